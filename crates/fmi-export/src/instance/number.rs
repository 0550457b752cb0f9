//! A value on its way to a variable, or from one.

use dovetail::scenario::FaceType;

/// A value for a variable, or of one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Float(f64),
    Integer(i128),
    Boolean(bool),
}

impl Number {
    /// What a number inside is to importers: the models know no others, and their whole numbers beyond 2^53 are rounded.
    pub fn of(value: f64, value_type: FaceType) -> Self {
        match value_type.range() {
            Some((least, largest)) => Self::Integer((value.round() as i128).clamp(least, largest)),
            None => Self::Float(value),
        }
    }

    pub fn as_float(self) -> f64 {
        match self {
            Self::Float(value) => value,
            Self::Integer(value) => value as f64,
            Self::Boolean(value) => f64::from(u8::from(value)),
        }
    }

    /// As a whole number, the nearest there is.
    pub fn as_integer(self) -> i128 {
        match self {
            Self::Float(value) => value.round() as i128,
            Self::Integer(value) => value,
            Self::Boolean(value) => i128::from(value),
        }
    }

    /// As text for a variable of this type; none where it is no value of it.
    pub fn as_text(self, wanted: FaceType) -> Option<String> {
        match wanted.range() {
            Some((least, largest)) => {
                let whole = self.as_integer();
                let is_whole = self.as_float() == whole as f64;
                let fits = is_whole && (least..=largest).contains(&whole);
                fits.then(|| whole.to_string())
            }
            None => Some(match self {
                Self::Float(value) => value.to_string(),
                Self::Integer(value) => value.to_string(),
                Self::Boolean(value) => value.to_string(),
            }),
        }
    }

    /// From text: a number, or a truth value.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Ok(truth) = text.parse() {
            return Some(Self::Boolean(truth));
        }
        let whole = text.parse().map(Self::Integer).ok();
        whole.or_else(|| text.parse().map(Self::Float).ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_numbers_within_their_range_are_values_of_integers() {
        let text = |value, kind| Number::Float(value).as_text(kind);
        assert_eq!(
            text(4_294_967_295.0, FaceType::UInt32).as_deref(),
            Some("4294967295")
        );
        assert_eq!(text(4_294_967_296.0, FaceType::UInt32), None);
        assert_eq!(text(0.5, FaceType::Int32), None);
        let largest = Number::Integer(u64::MAX.into());
        assert_eq!(
            largest.as_text(FaceType::UInt64),
            Some(u64::MAX.to_string())
        );
        assert_eq!(Number::parse(&u64::MAX.to_string()), Some(largest));
        assert_eq!(Number::of(u64::MAX as f64, FaceType::UInt64), largest);
        assert_eq!(Number::parse("true"), Some(Number::Boolean(true)));
        assert_eq!(Number::parse("1e-3"), Some(Number::Float(1e-3)));
    }
}
