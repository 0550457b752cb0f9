//! Values that are known from elsewhere: computed with forty digits by matrix exponentials, quadrature or Taylor series, in
//! another program (mpmath), and rounded to double precision.

use crate::Case;

/// States at the end of a run.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// Values set in the model.
    pub set: &'static [(&'static str, f64)],
    /// Names and values at the stop time.
    pub end: &'static [(&'static str, f64)],
}

impl Case {
    /// What is known of the end of this case.
    pub fn known(&self) -> &'static [Known] {
        KNOWN
            .iter()
            .find(|(name, _)| *name == self.name)
            .map_or(&[], |(_, known)| known)
    }
}

const KNOWN: &[(&str, &[Known])] = &[
    (
        "mechanical",
        &[Known {
            set: &[],
            end: &[
                ("left.x", -0.986_469_627_428_609_6),
                ("left.v", -25.152_048_963_359_864),
                ("right.x", -1.365_870_819_530_197_9),
                ("right.v", -35.166_395_033_324_46),
            ],
        }],
    ),
    (
        "lotka-volterra",
        &[Known {
            set: &[],
            end: &[
                ("prey.p", 0.790_321_729_806_707_4),
                ("predator.p", 0.217_120_162_281_673_76),
            ],
        }],
    ),
    (
        "damping-reaction",
        &[
            Known {
                set: &[("plate.D", 0.64)],
                end: &[
                    ("body.v", -0.059_758_160_040_595_12),
                    ("body.x", 9.503_632_991_094_971),
                    ("plate.x", 9.522_280_894_109_337),
                ],
            },
            Known {
                set: &[("plate.D", 4.0)],
                end: &[
                    ("body.v", 0.034_506_738_082_035_13),
                    ("body.x", 1.531_922_517_191_787),
                    ("plate.x", 1.499_998_718_526_836_4),
                ],
            },
        ],
    ),
    (
        "behaviour-change",
        &[Known {
            set: &[],
            end: &[
                ("left.x", 3.900_226_818_069_510_3),
                ("left.v", 0.197_640_448_773_489_57),
                ("right.x", 3.011_651_443_059_562_3),
                ("right.v", 0.193_833_836_484_685_77),
            ],
        }],
    ),
    (
        "car",
        &[Known {
            set: &[],
            end: &[("car.v", 15.969_753_866_041_562)],
        }],
    ),
    (
        "spring",
        &[Known {
            set: &[],
            end: &[
                ("one.x", -0.130_962_001_678_494_28),
                ("one.v", -0.034_639_267_100_989_47),
                ("two.x", -0.188_697_862_000_150_48),
                ("two.v", 0.014_446_686_998_561_346),
            ],
        }],
    ),
    (
        "rooms",
        &[Known {
            set: &[],
            end: &[
                ("west.T1", 19.792_532_225_366_34),
                ("west.T2", 19.779_905_805_074_905),
                ("west.T3", 19.997_535_441_525_586),
                ("west.T4", 20.577_407_046_534_75),
                ("west.T5", 19.822_919_483_510_054),
                ("east.T6", 20.473_836_097_754_355),
                ("east.T7", 19.901_360_022_764_16),
                ("east.T8", 20.603_437_173_753_575),
                ("east.T9", 19.938_742_693_530_07),
                ("east.T10", 20.278_770_683_950_034),
                ("east.T11", 20.247_880_903_641_137),
            ],
        }],
    ),
];
