//! What all pictures share: the size they are drawn at, the colors and the strokes.

use std::error::Error;

use plotters::prelude::*;

use crate::ticks::Axis;

/// Width and height on a page.
pub(crate) const SIZE: (u32, u32) = (760, 280);

/// Plotters rounds to whole pixels, which turns smooth curves into stairs: pictures are drawn this
/// much larger than they are shown.
pub(crate) const FINE: i32 = 4;

/// Stands for the color of the text around the picture and becomes `currentColor`: black on white
/// and white on black.
pub(crate) const INK: RGBColor = RGBColor(1, 2, 3);
pub(crate) const INK_AS_WRITTEN: &str = "#010203";

/// Colors that can be told apart by most eyes, on light and dark ground (after Okabe and Ito).
const COLORS: [RGBColor; 7] = [
    RGBColor(0x1f, 0x83, 0xc9),
    RGBColor(0xe6, 0x7e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x5a, 0x9e),
    RGBColor(0xd5, 0x3e, 0x2a),
    RGBColor(0x7a, 0x6f, 0xd0),
    RGBColor(0x8a, 0x8a, 0x2e),
];

pub(crate) type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Axis, Axis>>;
pub(crate) type Drawn = Result<(), Box<dyn Error>>;

/// The items of a picture, each with its color.
pub(crate) fn colored<T>(items: &[T]) -> impl Iterator<Item = (&T, &'static RGBColor)> {
    items.iter().zip(COLORS.iter().cycle())
}

/// The stroke of a curve.
pub(crate) fn thick(color: &RGBColor) -> ShapeStyle {
    color.stroke_width(7 * FINE as u32 / 4)
}

/// The stroke of axes and edges.
pub(crate) fn thin(color: &impl Color) -> ShapeStyle {
    color.stroke_width(FINE as u32)
}

pub(crate) fn drawn_size() -> (u32, u32) {
    (SIZE.0 * FINE as u32, SIZE.1 * FINE as u32)
}
