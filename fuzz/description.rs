//! Any bytes are read as a description or refused with a line; what is read has no loose ends, and strict is never laxer.
#![no_main]

use dovetail_fmi::description::{DescriptionError, Strictness, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let strict = read(bytes, Strictness::Strict);
    match read(bytes, Strictness::Lenient) {
        Ok((description, warnings)) => {
            let count = description.variables.len();
            let structure = &description.structure;
            for unknown in structure.outputs.iter().chain(&structure.derivatives) {
                assert!(unknown.variable < count);
                assert!(unknown.dependencies.iter().flatten().all(|known| *known < count));
            }
            for unknown in &structure.derivatives {
                assert!(description.variables[unknown.variable].derivative_of.is_some_and(|state| state < count));
            }
            assert!(structure.initial_unknowns.iter().chain(&structure.event_indicators).all(|at| *at < count));
            let lines = bytes.iter().filter(|byte| **byte == b'\n').count() as u32 + 1;
            assert!(warnings.iter().all(|warning| (1..=lines).contains(&warning.line)));
            match strict {
                // What strict finds nothing wrong with, both read alike; NaN differs from itself.
                Ok((same, none)) => {
                    assert!(none.is_empty() && warnings.is_empty());
                    assert_eq!(format!("{same:?}"), format!("{description:?}"));
                }
                Err(DescriptionError::Invalid { .. }) => assert!(!warnings.is_empty()),
                Err(error) => panic!("lenient reads what strict refuses as {error}"),
            }
        }
        Err(error) => {
            assert!(strict.is_err());
            assert!(error.to_string().contains("modelDescription.xml"));
        }
    }
});
