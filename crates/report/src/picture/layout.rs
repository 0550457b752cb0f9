//! How a figure is laid out: panels, axes, curves, legends.

use super::Picture;
use super::surface::{Anchor, Color, Lettering, Point, Stroke, Surface};
use super::thinning::thinned;
use crate::ticks::Axis;

/// One panel: curves that share an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Panel {
    /// What is on the vertical axis.
    pub title: String,
    /// The curves.
    pub curves: Vec<Curve>,
}

/// A named line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Curve {
    pub name: String,
    pub points: Vec<Point>,
    /// It jumps and is constant in between.
    pub held: bool,
}

const WIDTH: f64 = 760.0;
/// Heights of a panel over time and of the plane of an orbit.
const PANEL: f64 = 170.0;
const PLANE: f64 = 420.0;
const LEFT: f64 = 66.0;
const TITLE: f64 = 30.0;
const BOTTOM: f64 = 48.0;
const GAP: f64 = 12.0;
/// A curve's sample in the legend.
const SAMPLE: f64 = 24.0;
const LETTER: f64 = 6.8;
const MOST_LETTERS: usize = 34;

const INK: Color = [0x17, 0x20, 0x2b];
const MUTED: Color = [0x55, 0x61, 0x6f];
const GRID: Color = [0xe3, 0xe8, 0xed];
const FRAME: Color = [0xae, 0xb8, 0xc3];
/// Colors and dashes are those of pages in the light.
const COLORS: [Color; 8] = [
    [0x17, 0x63, 0xb0],
    [0xc2, 0x54, 0x0a],
    [0x12, 0x80, 0x5c],
    [0xad, 0x2f, 0x78],
    [0x66, 0x47, 0xb8],
    [0x86, 0x69, 0x0a],
    [0x0a, 0x7d, 0x92],
    [0xa8, 0x32, 0x2d],
];
const DASHES: [&[f64]; 8] = [
    &[],
    &[8.0, 4.0],
    &[2.0, 3.0],
    &[11.0, 3.0, 2.0, 3.0],
    &[5.0, 3.0],
    &[14.0, 4.0],
    &[3.0, 2.0, 3.0, 6.0],
    &[1.0, 2.0],
];

/// Where a panel is, and what its axes show.
struct Frame {
    area: [f64; 4],
    x: Axis,
    y: Axis,
}

impl Picture {
    fn panel_height(&self) -> f64 {
        if self.orbit { PLANE } else { PANEL }
    }

    /// Width and height.
    pub(super) fn size(&self) -> Point {
        let panels = self.panels.len().max(1) as f64;
        (WIDTH, panels * (TITLE + self.panel_height() + GAP) + BOTTOM)
    }

    pub(super) fn draw(&self, surface: &mut dyn Surface) {
        let curves = self.panels.iter().flat_map(|panel| &panel.curves);
        let abscissas = curves
            .clone()
            .flat_map(|curve| curve.points.iter().map(|point| point.0));
        let margin = if self.orbit { 0.05 } else { 0.0 };
        let x = Axis::linear(abscissas, 8, margin);
        let longest = curves
            .map(|curve| shortened(&curve.name).chars().count())
            .fold(8, usize::max);
        let right = WIDTH - (SAMPLE + 30.0 + LETTER * longest as f64);

        for (row, panel) in self.panels.iter().enumerate() {
            let top = TITLE + row as f64 * (TITLE + self.panel_height() + GAP);
            let ordinates = panel
                .curves
                .iter()
                .flat_map(|curve| curve.points.iter().map(|point| point.1));
            let frame = Frame {
                area: [LEFT, top, right, top + self.panel_height()],
                x: x.clone(),
                y: Axis::linear(ordinates, 5, 0.06),
            };
            let is_last = row + 1 == self.panels.len();
            frame.grid(surface, is_last.then_some(self.x_label.as_str()));
            frame.curves(surface, panel);
            let title = lettering(INK, 13.0, Anchor::Start, true);
            surface.text(&panel.title, (LEFT, top - 14.0), title);
        }
    }
}

impl Panel {
    /// A curve that is alone in its panel gives it its name.
    pub(crate) fn name_alone(&mut self) {
        if let [curve] = &self.curves[..] {
            self.title = format!("{} {}", curve.name, self.title);
        }
    }
}

impl Frame {
    fn place(&self, (x, y): Point) -> Point {
        let [left, top, right, bottom] = self.area;
        let across = (x - self.x.low) / (self.x.high - self.x.low);
        let up = (y - self.y.low) / (self.y.high - self.y.low);
        (left + across * (right - left), bottom - up * (bottom - top))
    }

    /// Lines at round numbers, and these; below the last panel those of the horizontal axis and its label.
    fn grid(&self, surface: &mut dyn Surface, label: Option<&str>) {
        let [left, top, right, bottom] = self.area;
        let fine = stroke(GRID, 1.0);
        for &tick in &self.y.ticks {
            let (_, y) = self.place((self.x.low, tick));
            surface.line(&[(left, y), (right, y)], fine, None);
            let text = self.y.label(tick).replace('-', "−");
            surface.text(
                &text,
                (left - 8.0, y),
                lettering(MUTED, 12.0, Anchor::End, false),
            );
        }
        for &tick in &self.x.ticks {
            let (x, _) = self.place((tick, self.y.low));
            surface.line(&[(x, top), (x, bottom)], fine, None);
            if label.is_some() {
                let text = self.x.label(tick).replace('-', "−");
                surface.text(
                    &text,
                    (x, bottom + 14.0),
                    lettering(MUTED, 12.0, Anchor::Middle, false),
                );
            }
        }
        let corners = [(left, top), (left, bottom), (right, bottom)];
        surface.line(&corners, stroke(FRAME, 1.0), None);
        if let Some(label) = label {
            let middle = ((left + right) / 2.0, bottom + 34.0);
            surface.text(label, middle, lettering(INK, 12.5, Anchor::Middle, false));
        }
    }

    /// The curves, and beside them their names.
    fn curves(&self, surface: &mut dyn Surface, panel: &Panel) {
        let [_, top, right, _] = self.area;
        for (row, curve) in panel.curves.iter().enumerate() {
            let line = Stroke {
                color: COLORS[row % COLORS.len()],
                width: 1.7,
                dashes: DASHES[(row + row / COLORS.len()) % DASHES.len()],
            };
            let points: Vec<Point> = thinned(&curve.drawn())
                .into_iter()
                .map(|point| self.place(point))
                .collect();
            surface.line(&points, line, Some(self.area));

            let y = top + 10.0 + 18.0 * row as f64;
            surface.line(&[(right + 14.0, y), (right + 14.0 + SAMPLE, y)], line, None);
            let name = lettering(INK, 12.0, Anchor::Start, false);
            surface.text(&shortened(&curve.name), (right + 20.0 + SAMPLE, y), name);
        }
    }
}

impl Curve {
    /// Its points as they are joined.
    fn drawn(&self) -> Vec<Point> {
        if !self.held {
            return self.points.clone();
        }
        let steps = self
            .points
            .windows(2)
            .flat_map(|pair| [pair[0], (pair[1].0, pair[0].1)]);
        steps.chain(self.points.last().copied()).collect()
    }
}

fn stroke(color: Color, width: f64) -> Stroke {
    Stroke {
        color,
        width,
        dashes: &[],
    }
}

fn lettering(color: Color, size: f64, anchor: Anchor, bold: bool) -> Lettering {
    Lettering {
        color,
        size,
        anchor,
        bold,
    }
}

/// A name that leaves room for the curves.
fn shortened(name: &str) -> String {
    if name.chars().count() <= MOST_LETTERS {
        return name.into();
    }
    name.chars().take(MOST_LETTERS - 1).chain(['…']).collect()
}
