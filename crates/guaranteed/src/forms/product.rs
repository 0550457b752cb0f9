//! Products of forms of one shape.

use std::ops::Range;

use super::{FormShape, sum_of_magnitudes};
use crate::rounding::{UNIT, above, below};

/// How much the parts of a form amount to.
#[derive(Clone, Copy)]
struct Magnitudes {
    center: f64,
    linear: f64,
    products: f64,
    errors: f64,
    radius: f64,
}

impl Magnitudes {
    fn symbols(self) -> f64 {
        self.linear + self.products + self.errors
    }

    fn without_radius(self) -> f64 {
        self.center + self.symbols()
    }
}

/// `factor · a · b`, where `factor` is a small integer.
struct Product<'f> {
    a: &'f [f64],
    b: &'f [f64],
    factor: f64,
}

impl FormShape {
    fn magnitudes(self, form: &[f64]) -> Magnitudes {
        let products = self.first_product();
        let errors = self.first_error();

        Magnitudes {
            center: form[0].abs(),
            linear: sum_of_magnitudes(&form[1..products]),
            products: sum_of_magnitudes(&form[products..errors]),
            errors: sum_of_magnitudes(&form[errors..self.radius()]),
            radius: form[self.radius()],
        }
    }

    /// `out += factor · a · b`, where `factor` is a small integer.
    pub fn add_product(self, out: &mut [f64], a: &[f64], b: &[f64], factor: f64) {
        let left = self.magnitudes(a);
        let right = self.magnitudes(b);
        let size = factor.abs();
        let product = Product { a, b, factor };
        self.add_products_with_centers(out, &product);
        let beyond = if self.quadratic {
            self.add_quadratic_products(out, &product, left, right)
        } else {
            self.add_linear_products(out, &product, left, right)
        };
        let (coefficients, radius) = self.split_mut(out);
        let anonymous = left.radius * (right.without_radius() + right.radius)
            + right.radius * left.without_radius();
        let products = left.without_radius() * right.without_radius();
        let rounding = UNIT * (5.0 * size * products + 2.0 * sum_of_magnitudes(coefficients));
        let grown = *radius + size * (above(beyond) + anonymous) + rounding;

        *radius = above(grown);
    }

    fn add_products_with_centers(self, out: &mut [f64], product: &Product) {
        let &Product { a, b, factor } = product;
        let a0 = a[0];
        let b0 = b[0];
        out[0] += factor * (a0 * b0);

        for i in 1..self.radius() {
            out[i] += factor * (a0 * b[i] + b0 * a[i]);
        }
    }

    /// Products of two primary symbols are kept; returns how far the others reach.
    fn add_quadratic_products(
        self,
        out: &mut [f64],
        product: &Product,
        left: Magnitudes,
        right: Magnitudes,
    ) -> f64 {
        self.add_products_of_symbols(out, product);
        let beyond = left.linear * right.products
            + left.products * right.symbols()
            + left.errors * (right.linear + right.products)
            + right.errors * left.linear;
        let errors = self.first_error()..self.radius();
        let squares = left.errors * right.errors - halves_of_squares(out, product, errors);

        beyond + squares
    }

    /// Returns how far products of two symbols reach.
    fn add_linear_products(
        self,
        out: &mut [f64],
        product: &Product,
        left: Magnitudes,
        right: Magnitudes,
    ) -> f64 {
        let all = (left.linear + left.errors) * (right.linear + right.errors);
        all - halves_of_squares(out, product, 1..self.radius())
    }

    /// Products of primary symbols, in the order (1,1), (1,2), …, (2,2), …
    fn add_products_of_symbols(self, out: &mut [f64], product: &Product) {
        let &Product { a, b, factor } = product;
        for (i, row) in self.product_rows() {
            let ai = factor * a[i];
            let bi = factor * b[i];
            let (square, mixed) = out[row].split_at_mut(1);
            square[0] += ai * b[i];
            let after = i + 1..self.first_product();
            for ((o, &a), &b) in mixed.iter_mut().zip(&a[after.clone()]).zip(&b[after]) {
                *o += ai * b + bi * a;
            }
        }
    }
}

/// Squares of a symbol lie in `[0, 1]`: half of their factors belongs to the center. Returns how
/// much the radius shrinks by it.
fn halves_of_squares(out: &mut [f64], product: &Product, range: Range<usize>) -> f64 {
    let count = range.len() as f64;
    let mut sum = 0.0;
    let mut magnitude = 0.0;

    for (a, b) in product.a[range.clone()].iter().zip(&product.b[range]) {
        let square = a * b;
        sum += square;
        magnitude += square.abs();
    }

    let center = 0.5 * sum;
    out[0] += product.factor * center;
    // What rounding may have done to the center stays in the radius.
    let rounding = above((count + 4.0) * UNIT * magnitude);

    (below(0.5 * magnitude) - rounding).max(0.0) - rounding
}
