//! Where to look for a derivative, and how to make one of what is seen.

/// Two places, in units of the gap, and the weights with which values here and there make a slope.
pub(super) struct Stencil {
    pub places: [f64; 2],
    weights: [f64; 3],
}

impl Stencil {
    pub const CENTRAL: Self = Self {
        places: [1.0, -1.0],
        weights: [0.0, 0.5, -0.5],
    };
    pub const FORWARD: Self = Self {
        places: [1.0, 2.0],
        weights: [-1.5, 2.0, -0.5],
    };
    pub const BACKWARD: Self = Self {
        places: [-1.0, -2.0],
        weights: [1.5, -2.0, 0.5],
    };

    /// What does not change has no slope, not even one of rounding.
    pub fn slope(&self, values: [f64; 3]) -> f64 {
        let [here, one, other] = values;
        if one == here && other == here {
            return 0.0;
        }
        self.weights[0] * here + self.weights[1] * one + self.weights[2] * other
    }
}
