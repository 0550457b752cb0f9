//! Figures as SVG.

use std::fmt::Write;

use super::surface::{Anchor, Color, Lettering, Point, Stroke, Surface};

const FONT: &str = "system-ui, 'DejaVu Sans', Verdana, sans-serif";

pub(super) struct SvgSurface {
    text: String,
    clips: usize,
}

impl SvgSurface {
    pub fn new((width, height): Point) -> Self {
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"{FONT}\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
        );
        Self { text, clips: 0 }
    }

    pub fn finish(self) -> String {
        self.text + "</svg>\n"
    }

    /// Begins an area beyond which nothing is drawn.
    fn clip(&mut self, [left, top, right, bottom]: [f64; 4]) {
        self.clips += 1;
        let _ = writeln!(
            self.text,
            "<clipPath id=\"c{0}\"><rect x=\"{left}\" y=\"{top}\" width=\"{1}\" height=\"{2}\"/></clipPath>",
            self.clips,
            right - left,
            bottom - top
        );
    }
}

impl Surface for SvgSurface {
    fn line(&mut self, points: &[Point], stroke: Stroke, clip: Option<[f64; 4]>) {
        if let Some(clip) = clip {
            self.clip(clip);
        }
        let clip = clip.map(|_| format!(" clip-path=\"url(#c{})\"", self.clips));
        let dashes: Vec<String> = stroke.dashes.iter().map(f64::to_string).collect();
        let dashes = match dashes.is_empty() {
            true => String::new(),
            false => format!(" stroke-dasharray=\"{}\"", dashes.join(" ")),
        };
        let _ = writeln!(
            self.text,
            "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\"{dashes}{}/>",
            path(points),
            color(stroke.color),
            stroke.width,
            clip.unwrap_or_default()
        );
    }

    fn text(&mut self, text: &str, (x, y): Point, lettering: Lettering) {
        let anchor = match lettering.anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let weight = if lettering.bold {
            " font-weight=\"600\""
        } else {
            ""
        };
        let _ = writeln!(
            self.text,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" dy=\"0.35em\" font-size=\"{}\" fill=\"{}\" text-anchor=\"{anchor}\"{weight}>{}</text>",
            lettering.size,
            color(lettering.color),
            escaped(text)
        );
    }
}

fn path(points: &[Point]) -> String {
    let mut path = String::new();
    let mut pen_down = false;
    for (x, y) in points {
        if !(x.is_finite() && y.is_finite()) {
            pen_down = false;
            continue;
        }
        let command = if pen_down { 'L' } else { 'M' };
        let _ = write!(path, "{command}{x:.2} {y:.2}");
        pen_down = true;
    }
    path
}

fn color([red, green, blue]: Color) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Text that means itself. Characters that XML has no place for are left out.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            control if control.is_control() => {}
            other => safe.push(other),
        }
    }
    safe
}
