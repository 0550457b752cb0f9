//! One figure of a run for a slide or a paper: variables over time in a panel for each unit, or over one another.

mod layout;
mod pixels;
mod surface;
mod svg;
mod thinning;

pub(crate) use layout::{Curve, Panel};

/// A figure: panels above one another over one axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// What is on the horizontal axis.
    pub(crate) x_label: String,
    /// From top to bottom.
    pub(crate) panels: Vec<Panel>,
    /// The horizontal axis is another variable: curves may come back on it.
    pub(crate) orbit: bool,
}

impl Picture {
    /// As SVG.
    pub fn to_svg(&self) -> String {
        let mut surface = svg::SvgSurface::new(self.size());
        self.draw(&mut surface);
        surface.finish()
    }

    /// As PNG, with two pixels for each unit of the SVG. Fails where no memory is left for it.
    pub fn to_png(&self) -> Result<Vec<u8>, String> {
        let mut surface = pixels::PixelSurface::new(self.size())?;
        self.draw(&mut surface);
        surface.finish()
    }
}

#[cfg(test)]
mod tests;
