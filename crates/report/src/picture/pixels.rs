//! Figures as PNG, with a font of their own: there may be none on the machine.

use tiny_skia::{
    FillRule, LineCap, LineJoin, Mask, Paint, Path, PathBuilder, Pixmap, Rect, StrokeDash,
    Transform,
};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

use super::surface::{Anchor, Color, Lettering, Point, Stroke, Surface};

/// Pixels for each unit of a figure: enough for a screen of high resolution and for print.
const SCALE: f32 = 2.0;

pub(super) struct PixelSurface {
    pixels: Pixmap,
    regular: Face<'static>,
    bold: Face<'static>,
}

impl PixelSurface {
    pub fn new((width, height): Point) -> Result<Self, String> {
        let length = |units: f64| (units as f32 * SCALE).ceil() as u32;
        let face =
            |font| Face::parse(font, 0).map_err(|error| format!("the font of pictures: {error}"));
        let pixels = Pixmap::new(length(width), length(height));
        let mut pixels = pixels.ok_or("a picture of this size does not fit into memory")?;
        pixels.fill(tiny_skia::Color::WHITE);

        Ok(Self {
            pixels,
            regular: face(dejavu::sans::regular())?,
            bold: face(dejavu::sans::bold())?,
        })
    }

    pub fn finish(self) -> Result<Vec<u8>, String> {
        self.pixels.encode_png().map_err(|error| error.to_string())
    }

    fn mask(&self, [left, top, right, bottom]: [f64; 4]) -> Option<Mask> {
        let mut mask = Mask::new(self.pixels.width(), self.pixels.height())?;
        let rect = Rect::from_ltrb(left as f32, top as f32, right as f32, bottom as f32)?;
        let path = PathBuilder::from_rect(rect);
        mask.fill_path(&path, FillRule::Winding, false, scale());
        Some(mask)
    }
}

impl Surface for PixelSurface {
    fn line(&mut self, points: &[Point], stroke: Stroke, clip: Option<[f64; 4]>) {
        let Some(path) = joined(points) else {
            return;
        };
        let mask = clip.and_then(|clip| self.mask(clip));
        let dashes = stroke.dashes.iter().map(|&length| length as f32).collect();
        let line = tiny_skia::Stroke {
            width: stroke.width as f32,
            line_join: LineJoin::Round,
            line_cap: LineCap::Butt,
            dash: StrokeDash::new(dashes, 0.0),
            ..tiny_skia::Stroke::default()
        };
        self.pixels
            .stroke_path(&path, &paint(stroke.color), &line, scale(), mask.as_ref());
    }

    fn text(&mut self, text: &str, (x, y): Point, lettering: Lettering) {
        let face = if lettering.bold {
            &self.bold
        } else {
            &self.regular
        };
        let units = lettering.size as f32 / f32::from(face.units_per_em());
        let glyphs: Vec<GlyphId> = text
            .chars()
            .map(|character| face.glyph_index(character).unwrap_or_default())
            .collect();
        let advance =
            |glyph: &GlyphId| f32::from(face.glyph_hor_advance(*glyph).unwrap_or_default()) * units;
        let length: f32 = glyphs.iter().map(advance).sum();
        let mut left = x as f32
            - match lettering.anchor {
                Anchor::Start => 0.0,
                Anchor::Middle => length / 2.0,
                Anchor::End => length,
            };
        let baseline = y as f32 + 0.35 * lettering.size as f32;

        for glyph in &glyphs {
            let mut outline = Outline(PathBuilder::new());
            face.outline_glyph(*glyph, &mut outline);
            if let Some(path) = outline.0.finish() {
                let place = Transform::from_row(units, 0.0, 0.0, -units, left, baseline)
                    .post_scale(SCALE, SCALE);
                self.pixels.fill_path(
                    &path,
                    &paint(lettering.color),
                    FillRule::Winding,
                    place,
                    None,
                );
            }
            left += advance(glyph);
        }
    }
}

/// The outline of a letter as a path.
struct Outline(PathBuilder);

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        self.0.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.0.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.0.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.0.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.0.close();
    }
}

fn joined(points: &[Point]) -> Option<Path> {
    let mut path = PathBuilder::new();
    let mut pen_down = false;
    for &(x, y) in points {
        if !(x.is_finite() && y.is_finite()) {
            pen_down = false;
            continue;
        }
        let (x, y) = (x as f32, y as f32);
        if pen_down {
            path.line_to(x, y);
        } else {
            path.move_to(x, y);
        }
        pen_down = true;
    }
    path.finish()
}

fn paint([red, green, blue]: Color) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(red, green, blue, 255);
    paint.anti_alias = true;
    paint
}

fn scale() -> Transform {
    Transform::from_scale(SCALE, SCALE)
}
