//! Linearizations that are kept although there are newer ones: their operators and factors then
//! stay too.

use dovetail_core::Linearization;

use super::InterfaceSystem;

impl InterfaceSystem {
    /// The newest linearizations of these systems need not be used: the older ones are good enough.
    /// Asked with what is kept and what is new.
    pub fn keep(&mut self, mut enough: impl FnMut(usize, &Linearization, &Linearization) -> bool) {
        let Some(kept) = &mut self.kept else { return };
        for (system, (kept, local)) in kept.iter_mut().zip(&self.local).enumerate() {
            let new = &local.linearization;
            self.stays[system] = enough(system, kept, new);
            let known = kept.affine != 0 && kept.affine == new.affine;
            if !self.stays[system] && !known {
                copy_matrices(new, kept);
            }
            copy_place(new, kept);
        }
    }
}

/// All that a linearization says of its surroundings.
fn copy_matrices(from: &Linearization, to: &mut Linearization) {
    to.affine = from.affine;
    let Linearization {
        a,
        b,
        c,
        d,
        b_slope,
        d_slope,
        ..
    } = to;
    let new = [
        &from.a,
        &from.b,
        &from.c,
        &from.d,
        &from.b_slope,
        &from.d_slope,
    ];

    [a, b, c, d, b_slope, d_slope]
        .into_iter()
        .zip(new)
        .for_each(|(to, from)| to.copy_from(from));
}

/// And where it was taken.
fn copy_place(from: &Linearization, to: &mut Linearization) {
    let Linearization {
        x,
        u,
        u_slope,
        f,
        g,
        f_time,
        g_time,
        ..
    } = to;
    let new = [
        &from.x,
        &from.u,
        &from.u_slope,
        &from.f,
        &from.g,
        &from.f_time,
        &from.g_time,
    ];
    [x, u, u_slope, f, g, f_time, g_time]
        .into_iter()
        .zip(new)
        .for_each(|(to, from)| to.copy_from(from));
}
