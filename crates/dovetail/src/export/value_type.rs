//! What the types of a model's variables are in FMI 2.0, which has fewer of them.

use dovetail_scenario::FaceType;

/// The types of FMI 2.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the standard")]
pub enum Fmi2Type {
    Real,
    Integer,
    Enumeration,
    Boolean,
    String,
}

impl Fmi2Type {
    /// What a variable is in FMI 2.0. Its integers have 32 bits: whole numbers that may be larger are real.
    pub fn of(value_type: FaceType) -> Self {
        match value_type {
            FaceType::Float | FaceType::Float32 => Self::Real,
            FaceType::Int64 | FaceType::UInt64 | FaceType::UInt32 => Self::Real,
            FaceType::Int32 | FaceType::Int16 | FaceType::UInt16 => Self::Integer,
            FaceType::Int8 | FaceType::UInt8 => Self::Integer,
            FaceType::Enumeration => Self::Enumeration,
            FaceType::Boolean => Self::Boolean,
            FaceType::Text => Self::String,
        }
    }
}
