//! Vectors as slices: the few operations the solvers share, with a weighted norm.

use std::iter::zip;

/// `√Σ (w_i v_i)²`.
pub(super) fn norm(weights: &[f64], vector: &[f64]) -> f64 {
    zip(weights, vector)
        .map(|(weight, value)| weight * value)
        .map(|scaled| scaled * scaled)
        .sum::<f64>()
        .sqrt()
}

/// `√Σ (w_i (a_i − b_i))²`.
pub(super) fn distance(weights: &[f64], a: &[f64], b: &[f64]) -> f64 {
    zip(weights, zip(a, b))
        .map(|(weight, (a, b))| weight * (a - b))
        .map(|scaled| scaled * scaled)
        .sum::<f64>()
        .sqrt()
}

/// `Σ w_i² a_i b_i`.
pub(super) fn product(weights: &[f64], a: &[f64], b: &[f64]) -> f64 {
    zip(weights, zip(a, b))
        .map(|(weight, (a, b))| weight * weight * a * b)
        .sum()
}

/// `Σ a_i b_i`.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    zip(a, b).map(|(a, b)| a * b).sum()
}

/// `target += factor · direction`.
pub(super) fn add_scaled(target: &mut [f64], factor: f64, direction: &[f64]) {
    for (target, direction) in zip(target, direction) {
        *target += factor * direction;
    }
}

/// `target = origin + factor · direction`.
pub(super) fn step(target: &mut [f64], origin: &[f64], factor: f64, direction: &[f64]) {
    target.copy_from_slice(origin);
    add_scaled(target, factor, direction);
}
