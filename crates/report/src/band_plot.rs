//! Bands over time: what was proved, drawn without smoothing it.

use dovetail_guaranteed::Interval;
use plotters::prelude::*;

use crate::plot::{Curve, Drawn, FINE, Picture, Plane, thick};
use crate::ticks::Axis;

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

/// Bands over time, with a legend: tubes as areas, instants as lines across them.
pub fn band_plot(title: &str, x_label: &str, y_label: &str, bands: &[Band]) -> String {
    let named: Vec<Curve> = bands
        .iter()
        .map(|band| Curve {
            name: band.name.clone(),
            points: vec![],
        })
        .collect();
    let picture = Picture {
        title,
        labels: (x_label, y_label),
        x: Axis::linear(bands.iter().flat_map(Band::times), 10, 0.0),
        y: Axis::linear(bands.iter().flat_map(Band::bounds), 6, 0.05),
        decades: false,
        curves: &named,
        bands,
    };
    picture.draw()
}

impl Band {
    fn times(&self) -> impl Iterator<Item = f64> {
        let tubes = self.tubes.iter().flat_map(|(from, to, _)| [*from, *to]);
        tubes.chain(self.instants.iter().map(|(time, _)| *time))
    }

    fn bounds(&self) -> impl Iterator<Item = f64> {
        let intervals = self
            .tubes
            .iter()
            .map(|(_, _, tube)| tube)
            .chain(self.instants.iter().map(|(_, at)| at));
        intervals.flat_map(|interval| [interval.lo, interval.hi])
    }

    pub(crate) fn draw(
        &self,
        chart: &mut ChartContext<'_, SVGBackend<'_>, Plane>,
        colour: &RGBColor,
    ) -> Drawn {
        chart.draw_series([Polygon::new(self.outline(), colour.mix(0.25).filled())])?;
        // A band thinner than a pixel is still to be seen.
        for bound in [self.edge(|tube| tube.lo), self.edge(|tube| tube.hi)] {
            chart.draw_series(LineSeries::new(bound, colour.stroke_width(FINE as u32)))?;
        }
        let every = self.instants.len().div_ceil(MOST_MARKS).max(1);
        let marks = self.instants.iter().step_by(every);
        chart
            .draw_series(marks.map(|&(time, at)| {
                PathElement::new([(time, at.lo), (time, at.hi)], thick(colour))
            }))?;
        Ok(())
    }

    /// Along one side, in steps: nothing is known of a tube's shape but its ends.
    fn edge(&self, side: impl Fn(&Interval) -> f64) -> Vec<(f64, f64)> {
        self.tubes
            .iter()
            .flat_map(|(from, to, tube)| [(*from, side(tube)), (*to, side(tube))])
            .collect()
    }

    fn outline(&self) -> Vec<(f64, f64)> {
        let below = self.edge(|tube| tube.lo);
        let above = self.edge(|tube| tube.hi);
        below.into_iter().chain(above.into_iter().rev()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
