//! Bands over time: what was proved, drawn without smoothing it.

use dovetail_guaranteed::Interval;
use plotters::prelude::*;

use crate::canvas::{Chart, Drawn, thick, thin};

/// Marks beyond these would fill the band.
const MOST_MARKS: usize = 60;

/// The bounds of a variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    /// Its name in the legend.
    pub name: String,
    /// From when, to when, and what holds throughout.
    pub tubes: Vec<(f64, f64, Interval)>,
    /// When, and what holds then.
    pub instants: Vec<(f64, Interval)>,
}

impl Band {
    /// The ends of all tubes, and all instants.
    pub(crate) fn times(&self) -> impl Iterator<Item = f64> {
        let tubes = self.tubes.iter().flat_map(|(from, to, _)| [*from, *to]);
        let instants = self.instants.iter().map(|(time, _)| *time);
        tubes.chain(instants)
    }

    /// All bounds.
    pub(crate) fn bounds(&self) -> impl Iterator<Item = f64> {
        let tubes = self.tubes.iter().map(|(_, _, tube)| tube);
        let instants = self.instants.iter().map(|(_, at)| at);
        let intervals = tubes.chain(instants);
        intervals.flat_map(|interval| [interval.lo, interval.hi])
    }

    pub(crate) fn draw(&self, chart: &mut Chart<'_, '_>, color: &RGBColor) -> Drawn {
        let area = Polygon::new(self.outline(), color.mix(0.25).filled());
        chart.draw_series([area])?;

        // A band thinner than a pixel is still to be seen.
        for edge in [self.lower_edge(), self.upper_edge()] {
            chart.draw_series(LineSeries::new(edge, thin(color)))?;
        }
        self.draw_marks(chart, color)
    }

    /// Instants as lines across the band.
    fn draw_marks(&self, chart: &mut Chart<'_, '_>, color: &RGBColor) -> Drawn {
        let every = self.instants.len().div_ceil(MOST_MARKS).max(1);
        let shown = self.instants.iter().step_by(every);
        let mark = |&(time, at): &(f64, Interval)| {
            PathElement::new([(time, at.lo), (time, at.hi)], thick(color))
        };
        chart.draw_series(shown.map(mark))?;
        Ok(())
    }

    fn lower_edge(&self) -> Vec<(f64, f64)> {
        self.edge(|tube| tube.lo)
    }

    fn upper_edge(&self) -> Vec<(f64, f64)> {
        self.edge(|tube| tube.hi)
    }

    /// Along one side, in steps: nothing is known of a tube's shape but its ends.
    fn edge(&self, side: impl Fn(&Interval) -> f64) -> Vec<(f64, f64)> {
        let tubes = self.tubes.iter();
        let steps = tubes.flat_map(|(from, to, tube)| [(*from, side(tube)), (*to, side(tube))]);
        steps.collect()
    }

    fn outline(&self) -> Vec<(f64, f64)> {
        let mut around = self.lower_edge();
        around.extend(self.upper_edge().into_iter().rev());
        around
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::band_plot;

    fn band() -> Band {
        let tubes = vec![
            (0.0, 1.0, Interval::new(0.0, 2.0)),
            (1.0, 2.0, Interval::new(1.0, 4.0)),
        ];
        Band {
            name: "one.<x>".into(),
            tubes,
            instants: vec![(1.0, Interval::new(1.2, 1.8))],
        }
    }

    #[test]
    fn a_band_is_an_area_with_edges_and_marks() {
        let svg = band_plot("one", "time in s", "", &[band()]);
        assert_eq!(svg.matches("<polygon").count(), 1);
        assert!(svg.contains("one.&lt;x&gt;") && svg.contains("currentColor"));
    }

    #[test]
    fn an_outline_goes_once_around_in_steps() {
        let around = [
            (0.0, 0.0),
            (1.0, 0.0),
            (1.0, 1.0),
            (2.0, 1.0),
            (2.0, 4.0),
            (1.0, 4.0),
            (1.0, 2.0),
            (0.0, 2.0),
        ];
        assert_eq!(band().outline(), around);
    }

    #[test]
    fn a_band_of_nothing_or_of_one_instant_makes_a_plot_all_the_same() {
        let lone = Band {
            tubes: vec![],
            ..band()
        };
        let thin = Band {
            tubes: vec![(0.0, 1e-300, Interval::point(1.0))],
            ..band()
        };
        for bands in [
            &[][..],
            &[lone],
            &[thin],
            &[Band {
                tubes: vec![],
                instants: vec![],
                ..band()
            }],
        ] {
            assert!(band_plot("t", "x", "y", bands).contains("</svg>"));
        }
    }
}
