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

/// `√Σ v_i²`.
pub(super) fn length(vector: &[f64]) -> f64 {
    dot(vector, vector).sqrt()
}

/// `target_i = w_i v_i`.
pub(super) fn set_weighted(target: &mut [f64], weights: &[f64], vector: &[f64]) {
    for (target, (weight, value)) in zip(target, zip(weights, vector)) {
        *target = weight * value;
    }
}

/// `target = vector / divisor`.
pub(super) fn set_quotient(target: &mut [f64], vector: &[f64], divisor: f64) {
    for (target, value) in zip(target, vector) {
        *target = value / divisor;
    }
}

/// Makes `vector` orthogonal to `direction`, which is of length one; returns the component removed.
pub(super) fn remove_component(vector: &mut [f64], direction: &[f64]) -> f64 {
    let component = dot(direction, vector);
    add_scaled(vector, -component, direction);
    component
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
