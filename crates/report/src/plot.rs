//! Pictures as SVG.

use std::error::Error;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::band_plot::Band;
use crate::number::brief;
use crate::ticks::Axis;

/// Width and height on a page.
const SIZE: (u32, u32) = (760, 280);

/// Plotters rounds to whole pixels, which turns smooth curves into stairs: pictures are drawn this much larger than they are
/// shown.
pub(crate) const FINE: i32 = 4;
const SMALL_TEXT: i32 = 12 * FINE;
const TITLE_TEXT: i32 = 15 * FINE;
const FONT: &str = "system-ui, sans-serif";

/// Stands for the colour of the text around the picture and becomes `currentColor`: black on white and white on black.
const INK: RGBColor = RGBColor(1, 2, 3);
const INK_AS_WRITTEN: &str = "#010203";

/// Colours that can be told apart by most eyes, on light and dark ground (after Okabe and Ito).
const COLOURS: [RGBColor; 7] = [
    RGBColor(0x1f, 0x83, 0xc9),
    RGBColor(0xe6, 0x7e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x5a, 0x9e),
    RGBColor(0xd5, 0x3e, 0x2a),
    RGBColor(0x7a, 0x6f, 0xd0),
    RGBColor(0x8a, 0x8a, 0x2e),
];

/// A named line through points.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Its name in the legend.
    pub name: String,
    /// Its points, in the order in which they are joined.
    pub points: Vec<(f64, f64)>,
}

/// Curves over time, with a legend.
pub fn line_plot(title: &str, x_label: &str, y_label: &str, curves: &[Curve]) -> String {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let picture = Picture {
        title,
        labels: (x_label, y_label),
        x: Axis::linear(points().map(|p| p.0), 10, 0.0),
        y: Axis::linear(points().map(|p| p.1), 6, 0.05),
        decades: false,
        curves,
        bands: &[],
    };
    picture.draw()
}

/// Errors against steps, both on logarithmic axes: an order of convergence is a slope. Each curve holds (step, error) points of
/// one method; points that have no logarithm are left out.
pub fn error_plot(title: &str, error_label: &str, curves: &[Curve]) -> String {
    let logarithms = |curve: &Curve| Curve {
        name: curve.name.clone(),
        points: curve
            .points
            .iter()
            .filter(|p| p.0 > 0.0 && p.1 > 0.0)
            .map(|p| (p.0.log10(), p.1.log10()))
            .collect(),
    };
    let curves: Vec<Curve> = curves.iter().map(logarithms).collect();
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let picture = Picture {
        title,
        labels: ("step in s", error_label),
        x: Axis::decades(points().map(|p| p.0)),
        y: Axis::decades(points().map(|p| p.1)),
        decades: true,
        curves: &curves,
        bands: &[],
    };
    picture.draw()
}

pub(crate) struct Picture<'a> {
    pub title: &'a str,
    pub labels: (&'a str, &'a str),
    pub x: Axis,
    pub y: Axis,
    /// Axes hold decimal logarithms.
    pub decades: bool,
    pub curves: &'a [Curve],
    /// Behind the curves, each in the colour of the curve at its place.
    pub bands: &'a [Band],
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
pub(crate) type Plane = Cartesian2d<Axis, Axis>;
pub(crate) type Drawn = Result<(), Box<dyn Error>>;

impl Picture<'_> {
    pub fn draw(&self) -> String {
        let mut svg = String::new();
        self.draw_into(&mut svg)
            .expect("BUG: a string can always be drawn into");
        let (drawn, shown) = (size_attributes(drawn_size()), size_attributes(SIZE));
        svg.replacen(&drawn, &shown, 1)
            .replace(&format!("\"{INK_AS_WRITTEN}\""), "\"currentColor\"")
    }

    fn draw_into(&self, svg: &mut String) -> Drawn {
        let area = SVGBackend::with_string(svg, drawn_size()).into_drawing_area();
        let (left, right) = area.split_horizontally(drawn_size().0 as i32 - self.legend_width());
        let mut chart = ChartBuilder::on(&left)
            .caption(self.title, (FONT, TITLE_TEXT).into_font().color(&INK))
            .margin_left(6 * FINE)
            .margin_right(12 * FINE)
            .margin_top(4 * FINE)
            .x_label_area_size(38 * FINE)
            .y_label_area_size(self.label_width())
            .build_cartesian_2d(self.x.clone(), self.y.clone())?;
        self.draw_mesh(&mut chart)?;
        for (band, colour) in self.bands.iter().zip(COLOURS.iter().cycle()) {
            band.draw(&mut chart, colour)?;
        }
        self.draw_curves(&mut chart)?;
        self.draw_legend(&right)?;
        area.present()?;
        Ok(())
    }

    fn draw_mesh(&self, chart: &mut ChartContext<'_, SVGBackend<'_>, Plane>) -> Drawn {
        chart
            .configure_mesh()
            .x_desc(self.labels.0)
            .y_desc(self.labels.1)
            .x_labels(self.x.ticks.len())
            .y_labels(self.y.ticks.len())
            .x_label_formatter(&|&tick| self.label(&self.x, tick))
            .y_label_formatter(&|&tick| self.label(&self.y, tick))
            .label_style((FONT, SMALL_TEXT).into_font().color(&INK))
            .axis_desc_style((FONT, SMALL_TEXT).into_font().color(&INK))
            .axis_style(INK.mix(0.6).stroke_width(FINE as u32))
            .bold_line_style(INK.mix(0.12).stroke_width(FINE as u32))
            .set_all_tick_mark_size(4 * FINE)
            .light_line_style(TRANSPARENT)
            .draw()?;
        Ok(())
    }

    fn draw_curves(&self, chart: &mut ChartContext<'_, SVGBackend<'_>, Plane>) -> Drawn {
        for (curve, colour) in self.curves.iter().zip(COLOURS.iter().cycle()) {
            chart.draw_series(LineSeries::new(curve.points.iter().copied(), thick(colour)))?;
            if self.decades || curve.points.len() == 1 {
                chart.draw_series(
                    curve
                        .points
                        .iter()
                        .map(|&point| Circle::new(point, 3 * FINE, colour.filled())),
                )?;
            }
        }
        Ok(())
    }

    /// The legend stands beside the plot: no curve can run through it.
    fn draw_legend(&self, area: &Area<'_>) -> Drawn {
        let style = (FONT, SMALL_TEXT)
            .into_font()
            .color(&INK)
            .pos(Pos::new(HPos::Left, VPos::Center));
        for (i, (curve, colour)) in self.curves.iter().zip(COLOURS.iter().cycle()).enumerate() {
            let y = (40 + 18 * i as i32) * FINE;
            area.draw(&PathElement::new(
                [(4 * FINE, y), (22 * FINE, y)],
                thick(colour),
            ))?;
            area.draw(&Text::new(
                shortened(&curve.name),
                (28 * FINE, y),
                style.clone(),
            ))?;
        }
        Ok(())
    }

    /// Most plots come out with the same width, so that times stand below each other on a page.
    fn legend_width(&self) -> i32 {
        let longest = self
            .curves
            .iter()
            .map(|curve| shortened(&curve.name).chars().count())
            .max()
            .unwrap_or(0);
        (36 + 7 * longest.max(10) as i32) * FINE
    }

    /// Room for the longest number and the label beside it.
    fn label_width(&self) -> i32 {
        let length = |&tick: &f64| self.label(&self.y, tick).chars().count();
        (32 + 7 * self.y.ticks.iter().map(length).fold(6, usize::max) as i32) * FINE
    }

    fn label(&self, axis: &Axis, tick: f64) -> String {
        if self.decades {
            brief(10_f64.powf(tick))
        } else {
            axis.label(tick)
        }
    }
}

fn drawn_size() -> (u32, u32) {
    (SIZE.0 * FINE as u32, SIZE.1 * FINE as u32)
}

fn size_attributes((width, height): (u32, u32)) -> String {
    format!("width=\"{width}\" height=\"{height}\"")
}

pub(crate) fn thick(colour: &RGBColor) -> ShapeStyle {
    colour.stroke_width(7 * FINE as u32 / 4)
}

/// A name that leaves room for the plot.
fn shortened(name: &str) -> String {
    const MOST: usize = 28;
    if name.chars().count() <= MOST {
        return name.into();
    }
    name.chars().take(MOST - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(name: &str, points: &[(f64, f64)]) -> Curve {
        Curve {
            name: name.into(),
            points: points.to_vec(),
        }
    }

    #[test]
    fn a_plot_names_its_curves_and_takes_the_colour_of_the_text_around() {
        let svg = line_plot(
            "mass",
            "time in s",
            "m",
            &[curve("mass.x", &[(0.0, 1.0), (1.0, 2.0)])],
        );
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
        assert!(svg.contains("mass.x") && svg.contains("time in s"));
        assert!(svg.contains("currentColor") && !svg.contains(INK_AS_WRITTEN));
    }

    #[test]
    fn names_are_escaped() {
        let svg = line_plot(
            "<script>",
            "a&b",
            "\"",
            &[curve("</svg><b>", &[(0.0, 1.0)])],
        );
        assert!(!svg.contains("<script>") && !svg.contains("<b>") && !svg.contains("a&b"));
    }

    #[test]
    fn odd_data_make_a_plot_all_the_same() {
        let odd: [&[(f64, f64)]; 5] = [
            &[],
            &[(0.0, 0.0)],
            &[(1.0, 5.0), (1.0, 5.0)],
            &[(0.0, 1e99), (1e-99, -1e99)],
            &[(1e9, 1.0), (1e9 + 1.0, 1.0)],
        ];
        for points in odd {
            assert!(line_plot("t", "x", "y", &[curve("c", points)]).contains("</svg>"));
            assert!(error_plot("t", "y", &[curve("c", points)]).contains("</svg>"));
        }
        assert!(line_plot("t", "x", "y", &[]).contains("</svg>"));
    }

    #[test]
    fn errors_stand_on_decades() {
        let svg = error_plot(
            "errors",
            "NRMSE in %",
            &[curve("jacobi", &[(0.1, 1.0), (0.01, 0.1), (0.001, 0.0)])],
        );
        assert!(svg.contains("0.02") && svg.contains("0.05") && svg.contains("NRMSE in %"));
        assert_eq!(svg.matches("<circle").count(), 2);
    }
}
