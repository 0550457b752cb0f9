//! Pictures as SVG.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::band::Band;
use crate::canvas::{
    Chart, Drawn, FINE, INK, INK_AS_WRITTEN, SIZE, colored, drawn_size, thick, thin,
};
use crate::number::brief;
use crate::ticks::Axis;

const SMALL_TEXT: i32 = 12 * FINE;
const TITLE_TEXT: i32 = 15 * FINE;
const FONT: &str = "system-ui, sans-serif";

/// The part of a vertical axis that is left free at both ends.
const MARGIN: f64 = 0.05;
/// The color of curves that are all alike.
const FAINT: RGBColor = RGBColor(0x1f, 0x83, 0xc9);
/// About so many numbers stand along an axis.
const X_TICKS: usize = 10;
const Y_TICKS: usize = 6;

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
    let picture = Picture {
        title,
        labels: (x_label, y_label),
        x: Axis::linear(abscissas(curves), X_TICKS, 0.0),
        y: Axis::linear(ordinates(curves), Y_TICKS, MARGIN),
        decades: false,
        stroke: Stroke::Line,
        dotted: 0,
        curves,
        bands: &[],
    };
    picture.draw()
}

/// Points, and curves over them, each with its name in the legend.
pub fn point_plot(title: &str, labels: (&str, &str), points: &[Curve], curves: &[Curve]) -> String {
    let all = [points, curves].concat();
    let picture = Picture {
        title,
        labels,
        x: Axis::linear(abscissas(&all), X_TICKS, MARGIN),
        y: Axis::linear(ordinates(&all), Y_TICKS, MARGIN),
        decades: false,
        stroke: Stroke::Line,
        dotted: points.len(),
        curves: &all,
        bands: &[],
    };
    picture.draw()
}

/// Many curves of one kind, thin and in one color, so that it is seen where most of them are.
pub fn fan_plot(title: &str, labels: (&str, &str), curves: &[Curve]) -> String {
    let picture = Picture {
        title,
        labels,
        x: Axis::linear(abscissas(curves), X_TICKS, 0.0),
        y: Axis::linear(ordinates(curves), Y_TICKS, MARGIN),
        decades: false,
        stroke: Stroke::Faint,
        dotted: 0,
        curves,
        bands: &[],
    };
    picture.draw()
}

/// Bands over time, with a legend: tubes as areas, instants as lines across them.
pub fn band_plot(title: &str, x_label: &str, y_label: &str, bands: &[Band]) -> String {
    let legend: Vec<Curve> = bands.iter().map(legend_entry).collect();
    let times = bands.iter().flat_map(Band::times);
    let bounds = bands.iter().flat_map(Band::bounds);

    let picture = Picture {
        title,
        labels: (x_label, y_label),
        x: Axis::linear(times, X_TICKS, 0.0),
        y: Axis::linear(bounds, Y_TICKS, MARGIN),
        decades: false,
        stroke: Stroke::Line,
        dotted: 0,
        curves: &legend,
        bands,
    };
    picture.draw()
}

/// Errors against steps, both on logarithmic axes: an order of convergence is a slope. Each curve
/// holds (step, error) points of one method; points that have no logarithm are left out.
pub fn error_plot(title: &str, error_label: &str, curves: &[Curve]) -> String {
    let curves: Vec<Curve> = curves.iter().map(Curve::logarithms).collect();

    let picture = Picture {
        title,
        labels: ("step in s", error_label),
        x: Axis::decades(abscissas(&curves)),
        y: Axis::decades(ordinates(&curves)),
        decades: true,
        stroke: Stroke::Line,
        dotted: 0,
        curves: &curves,
        bands: &[],
    };
    picture.draw()
}

impl Curve {
    /// The same curve on decimal logarithmic axes.
    fn logarithms(&self) -> Self {
        let positive = self.points.iter().filter(|(x, y)| *x > 0.0 && *y > 0.0);
        Self {
            name: self.name.clone(),
            points: positive.map(|(x, y)| (x.log10(), y.log10())).collect(),
        }
    }
}

/// A curve without points: a band has its name and color in the legend.
fn legend_entry(band: &Band) -> Curve {
    Curve {
        name: band.name.clone(),
        points: vec![],
    }
}

fn abscissas(curves: &[Curve]) -> impl Iterator<Item = f64> {
    points(curves).map(|(x, _)| *x)
}

fn ordinates(curves: &[Curve]) -> impl Iterator<Item = f64> {
    points(curves).map(|(_, y)| *y)
}

fn points(curves: &[Curve]) -> impl Iterator<Item = &(f64, f64)> {
    curves.iter().flat_map(|curve| &curve.points)
}

/// How curves are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stroke {
    /// Each in its color, with its name in the legend.
    Line,
    /// All alike, without a legend.
    Faint,
}

struct Picture<'a> {
    title: &'a str,
    labels: (&'a str, &'a str),
    x: Axis,
    y: Axis,
    /// Axes hold decimal logarithms.
    decades: bool,
    stroke: Stroke,
    /// So many of the curves, the first ones, are points that nothing joins.
    dotted: usize,
    curves: &'a [Curve],
    /// Behind the curves, each in the color of the curve at its place.
    bands: &'a [Band],
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

impl Picture<'_> {
    fn draw(&self) -> String {
        let mut svg = String::new();
        self.draw_into(&mut svg)
            .expect("BUG: a string can always be drawn into");

        let drawn = size_attributes(drawn_size());
        let shown = size_attributes(SIZE);
        let ink = format!("\"{INK_AS_WRITTEN}\"");

        svg.replacen(&drawn, &shown, 1)
            .replace(&ink, "\"currentColor\"")
    }

    fn draw_into(&self, svg: &mut String) -> Drawn {
        let area = SVGBackend::with_string(svg, drawn_size()).into_drawing_area();
        let plot_width = drawn_size().0 as i32 - self.legend_width();
        let (left, right) = area.split_horizontally(plot_width);

        self.draw_plot(&left)?;
        self.draw_legend(&right)?;
        area.present()?;
        Ok(())
    }

    fn draw_plot(&self, area: &Area<'_>) -> Drawn {
        let mut chart = ChartBuilder::on(area)
            .caption(self.title, text_style(TITLE_TEXT))
            .margin_left(6 * FINE)
            .margin_right(12 * FINE)
            .margin_top(4 * FINE)
            .x_label_area_size(38 * FINE)
            .y_label_area_size(self.label_width())
            .build_cartesian_2d(self.x.clone(), self.y.clone())?;
        self.draw_mesh(&mut chart)?;

        for (band, color) in colored(self.bands) {
            band.draw(&mut chart, color)?;
        }
        self.draw_curves(&mut chart)
    }

    fn draw_mesh(&self, chart: &mut Chart<'_, '_>) -> Drawn {
        chart
            .configure_mesh()
            .x_desc(self.labels.0)
            .y_desc(self.labels.1)
            .x_labels(self.x.ticks.len())
            .y_labels(self.y.ticks.len())
            .x_label_formatter(&|&tick| self.label(&self.x, tick))
            .y_label_formatter(&|&tick| self.label(&self.y, tick))
            .label_style(text_style(SMALL_TEXT))
            .axis_desc_style(text_style(SMALL_TEXT))
            .axis_style(thin(&INK.mix(0.6)))
            .bold_line_style(thin(&INK.mix(0.12)))
            .set_all_tick_mark_size(4 * FINE)
            .light_line_style(TRANSPARENT)
            .draw()?;
        Ok(())
    }

    fn draw_curves(&self, chart: &mut Chart<'_, '_>) -> Drawn {
        for (index, (curve, color)) in colored(self.curves).enumerate() {
            let points = curve.points.iter().copied();
            let is_dotted = index < self.dotted;
            match self.stroke {
                Stroke::Faint => {
                    let faint = FAINT.mix(0.3).stroke_width(FINE as u32);
                    chart.draw_series(LineSeries::new(points.clone(), faint))?;
                }
                Stroke::Line if is_dotted => {}
                Stroke::Line => {
                    chart.draw_series(LineSeries::new(points.clone(), thick(color)))?;
                }
            }
            if self.decades || is_dotted || curve.points.len() == 1 {
                let size = if is_dotted { 2 * FINE } else { 3 * FINE };
                let dots = points.map(|point| Circle::new(point, size, color.filled()));
                chart.draw_series(dots)?;
            }
        }
        Ok(())
    }

    /// The legend stands beside the plot: no curve can run through it.
    fn draw_legend(&self, area: &Area<'_>) -> Drawn {
        if self.stroke == Stroke::Faint {
            return Ok(());
        }
        let style = text_style(SMALL_TEXT).pos(Pos::new(HPos::Left, VPos::Center));
        for (row, (curve, color)) in colored(self.curves).enumerate() {
            let y = (40 + 18 * row as i32) * FINE;
            if row < self.dotted {
                area.draw(&Circle::new((13 * FINE, y), 2 * FINE, color.filled()))?;
            } else {
                let sample = [(4 * FINE, y), (22 * FINE, y)];
                area.draw(&PathElement::new(sample, thick(color)))?;
            }
            let name = shortened(&curve.name);
            area.draw(&Text::new(name, (28 * FINE, y), style.clone()))?;
        }
        Ok(())
    }

    /// Most plots come out with the same width, so that times stand below each other on a page.
    fn legend_width(&self) -> i32 {
        let length = |curve: &Curve| shortened(&curve.name).chars().count();
        let longest = self.curves.iter().map(length).fold(10, usize::max);
        (36 + 7 * longest as i32) * FINE
    }

    /// Room for the longest number and the label beside it.
    fn label_width(&self) -> i32 {
        let length = |&tick: &f64| self.label(&self.y, tick).chars().count();
        let longest = self.y.ticks.iter().map(length).fold(6, usize::max);
        (32 + 7 * longest as i32) * FINE
    }

    fn label(&self, axis: &Axis, tick: f64) -> String {
        if self.decades {
            brief(10_f64.powf(tick))
        } else {
            axis.label(tick)
        }
    }
}

fn text_style(size: i32) -> TextStyle<'static> {
    (FONT, size).into_font().color(&INK)
}

fn size_attributes((width, height): (u32, u32)) -> String {
    format!("width=\"{width}\" height=\"{height}\"")
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
    fn a_plot_names_its_curves_and_takes_the_color_of_the_text_around() {
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
    fn points_are_not_joined_and_a_fan_has_no_legend() {
        let measured = curve("measured", &[(0.0, 1.0), (1.0, 2.0), (2.0, 0.0)]);
        let line = curve("fitted", &[(0.0, 1.0), (2.0, 0.5)]);
        let svg = point_plot(
            "car",
            ("time in s", ""),
            &[measured],
            std::slice::from_ref(&line),
        );
        // Three points and one in the legend.
        assert_eq!(svg.matches("<circle").count(), 4);
        assert!(svg.contains("measured") && svg.contains("fitted"));
        let fan = fan_plot("car", ("time in s", ""), &[line.clone(), line]);
        assert!(!fan.contains("fitted") && fan.matches("opacity=\"0.3\"").count() == 2);
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
