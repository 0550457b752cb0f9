//! Elements of arrays by their names, `x[1,2]`.

/// A variable, or an element of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Elements {
    /// The variable.
    pub variable: String,
    /// Which element; none is all of it.
    pub indices: Vec<u64>,
}

impl Elements {
    /// What a name means; only arrays have elements.
    pub fn of(name: &str, is_array: impl Fn(&str) -> bool) -> Self {
        match split(name) {
            Some((variable, indices)) if is_array(variable) => Self {
                variable: variable.to_owned(),
                indices,
            },
            _ => Self {
                variable: name.to_owned(),
                indices: Vec::new(),
            },
        }
    }
}

/// `x[1,2]` in its two parts.
pub(crate) fn split(name: &str) -> Option<(&str, Vec<u64>)> {
    let (variable, list) = name.strip_suffix(']')?.rsplit_once('[')?;
    let indices = list.split(',').map(|index| index.parse().ok());
    let indices: Option<Vec<u64>> = indices.collect();
    Some((variable, indices?))
}

/// Whether a name is that of a variable, or of an element of it.
pub(crate) fn is_or_belongs_to(name: &str, variable: &str) -> bool {
    name == variable || split(name).is_some_and(|(array, _)| array == variable)
}

/// Where the elements of an array are among these names, in their order; none for what is no array.
pub(crate) fn positions(array: &str, names: &[&str]) -> Vec<usize> {
    let all = names.iter().enumerate();
    let own = all.filter(|(_, name)| split(name).is_some_and(|(variable, _)| variable == array));
    own.map(|(position, _)| position).collect()
}

/// `an array of 2 × 3` and the like.
pub(crate) fn in_words(sizes: &[u64]) -> String {
    match sizes {
        [] => "no array".to_owned(),
        [1] => "an array of 1 element".to_owned(),
        [size] => format!("an array of {size} elements"),
        sizes => {
            let each: Vec<String> = sizes.iter().map(u64::to_string).collect();
            format!("an array of {}", each.join(" × "))
        }
    }
}

/// The sizes of an array whose elements are among these names.
pub(crate) fn sizes(variable: &str, names: &[&str]) -> Vec<u64> {
    let mut sizes: Vec<u64> = Vec::new();
    let elements = names.iter().filter_map(|name| split(name));
    for (_, indices) in elements.filter(|(own, _)| *own == variable) {
        sizes.resize(indices.len(), 0);
        for (size, index) in sizes.iter_mut().zip(indices) {
            *size = index.max(*size);
        }
    }
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_arrays_have_elements() {
        let element = Elements::of("a.b[2,3]", |name| name == "a.b");
        assert_eq!(
            (element.variable.as_str(), element.indices),
            ("a.b", vec![2, 3])
        );
        assert_eq!(Elements::of("a[1]", |_| false).variable, "a[1]");
        assert_eq!(Elements::of("a[x]", |_| true).variable, "a[x]");
    }

    #[test]
    fn sizes_are_those_of_the_last_elements() {
        let names = [
            "x[1,1]", "x[1,2]", "x[1,3]", "x[2,1]", "x[2,2]", "x[2,3]", "y[9]",
        ];
        assert_eq!(sizes("x", &names), [2, 3]);
    }
}
