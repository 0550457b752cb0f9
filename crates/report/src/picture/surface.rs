//! What a figure is drawn on.

/// A color by its red, green and blue.
pub(super) type Color = [u8; 3];
/// A place, from the left and from the top.
pub(super) type Point = (f64, f64);

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stroke {
    pub color: Color,
    pub width: f64,
    /// Lengths of dashes and gaps; empty: a solid line.
    pub dashes: &'static [f64],
}

/// Where the place of a text is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// How a text is written. Its place is at the middle of its height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Lettering {
    pub color: Color,
    pub size: f64,
    pub anchor: Anchor,
    pub bold: bool,
}

/// Something to draw on.
pub(super) trait Surface {
    /// Joins these points; a point that is no number interrupts the line. Nothing outside `clip` (left, top, right, bottom) is drawn.
    fn line(&mut self, points: &[Point], stroke: Stroke, clip: Option<[f64; 4]>);

    /// Writes a text.
    fn text(&mut self, text: &str, at: Point, lettering: Lettering);
}
