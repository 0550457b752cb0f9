use super::*;

fn picture(orbit: bool, names: &[&str]) -> Picture {
    let curve = |name: &&str| Curve {
        name: name.to_string(),
        points: (0..100)
            .map(|n| (f64::from(n), (f64::from(n) * 0.1).sin()))
            .collect(),
        held: false,
    };
    Picture {
        x_label: "time [s]".into(),
        panels: vec![Panel {
            title: "position [m]".into(),
            curves: names.iter().map(curve).collect(),
        }],
        orbit,
    }
}

#[test]
fn a_figure_names_its_axes_and_curves_and_nothing_in_a_name_is_markup() {
    let svg = picture(false, &["mass.x", "</svg><script>"]).to_svg();
    for text in ["position [m]", "time [s]", "mass.x", "&lt;script&gt;"] {
        assert!(svg.contains(text), "{text}");
    }
    assert!(!svg.contains("<script") && svg.ends_with("</svg>\n"));
}

/// Width, height and how many pixels are darker than paper.
fn read(png: &[u8]) -> (u32, u32, usize) {
    let pixels = tiny_skia::Pixmap::decode_png(png).expect("a PNG");
    let dark = pixels
        .pixels()
        .iter()
        .filter(|pixel| pixel.red() < 128)
        .count();
    (pixels.width(), pixels.height(), dark)
}

#[test]
fn a_png_has_twice_the_size_and_its_letters_come_along() {
    let (width, height, with_name) = read(&picture(false, &["mass.x"]).to_png().expect("a PNG"));
    assert_eq!((width, height), (1520, 520));
    let (_, _, without_name) = read(&picture(false, &[""]).to_png().expect("a PNG"));
    assert!(
        with_name > without_name + 200,
        "{with_name} and {without_name} dark pixels"
    );
}

#[test]
fn odd_data_make_a_figure_all_the_same() {
    let mut empty = picture(true, &["a"]);
    empty.panels[0].curves[0].points = vec![(f64::NAN, 1.0), (f64::INFINITY, f64::NEG_INFINITY)];
    assert!(empty.to_svg().ends_with("</svg>\n") && empty.to_png().is_ok());
    empty.panels.clear();
    assert!(empty.to_svg().ends_with("</svg>\n") && empty.to_png().is_ok());
}

#[test]
fn what_is_held_is_drawn_as_steps() {
    let mut held = picture(false, &["on"]);
    held.panels[0].curves[0].held = true;
    held.panels[0].curves[0].points = vec![(0.0, 0.0), (1.0, 1.0), (2.0, 1.0)];
    let svg = held.to_svg();
    let curve = svg
        .lines()
        .find(|line| line.contains("stroke-width=\"1.7\""))
        .expect("a curve");
    assert_eq!(curve.matches('L').count(), 4, "{curve}");
}
