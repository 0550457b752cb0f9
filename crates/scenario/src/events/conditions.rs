//! Conditions on the variables of a model, `tank.level > 2 and room.T < 5`, as conditions of one system.

use dovetail_core::Interface;

/// A condition in which every `system.variable` is a name of the same length.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RenamedCondition {
    pub text: String,
    /// The new names, and what they stand for.
    pub variables: Vec<(String, String)>,
}

/// Renames the variables of a condition; `known` are those of earlier ones.
pub(crate) fn rename(
    condition: &str,
    interfaces: &[Interface],
    known: &[(String, String)],
) -> RenamedCondition {
    let mut renamed = RenamedCondition::default();
    let mut rest = condition;
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        let begins = !(continues(before) || before == '.');
        match variable_at(rest, interfaces).filter(|_| begins) {
            Some(length) => {
                let qualified = &rest[..length];
                let name = name_for(qualified, known, &renamed.variables);
                renamed.text.push_str(&name);
                let pair = (name, qualified.to_owned());
                if !renamed.variables.contains(&pair) {
                    renamed.variables.push(pair);
                }
                rest = &rest[length..];
                before = '_';
            }
            None => {
                renamed.text.push(first);
                rest = &rest[first.len_utf8()..];
                before = first;
            }
        }
    }
    renamed
}

fn continues(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}

/// How long the variable is with which a text begins, if it does; the longest counts.
fn variable_at(text: &str, interfaces: &[Interface]) -> Option<usize> {
    let systems = interfaces.iter().filter_map(|interface| {
        let rest = text.strip_prefix(&interface.name)?.strip_prefix('.')?;
        let outputs = interface.outputs.iter().map(|output| output.name.as_str());
        let inputs = interface.inputs.iter().map(|input| input.name.as_str());
        let states = interface.states.iter().map(String::as_str);
        let names = outputs.chain(inputs).chain(states);
        let fitting = names.filter(|name| {
            let after = rest.strip_prefix(name);
            after.is_some_and(|after| !after.starts_with(continues))
        });
        let longest = fitting.map(str::len).max()?;
        Some(interface.name.len() + 1 + longest)
    });
    systems.max()
}

/// A name that stands for a variable: as long as it, unless that name stands for another one.
fn name_for(qualified: &str, known: &[(String, String)], new: &[(String, String)]) -> String {
    let all = || known.iter().chain(new);
    if let Some((name, _)) = all().find(|(_, stands_for)| stands_for == qualified) {
        return name.clone();
    }
    let plain = |c: char| if continues(c) { c } else { '_' };
    let mut name: String = qualified.chars().map(plain).collect();
    while all().any(|(taken, _)| *taken == name) {
        name.push('_');
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use dovetail_core::Output;

    fn interface(name: &str, outputs: &[&str]) -> Interface {
        let output = |name: &&str| Output {
            name: (*name).to_owned(),
            ..Output::default()
        };
        Interface {
            name: name.to_owned(),
            outputs: outputs.iter().map(output).collect(),
            ..Interface::default()
        }
    }

    #[test]
    fn variables_are_renamed_and_the_longest_counts() {
        let systems = [interface("a", &["b", "b.c[1]"]), interface("a_b", &["c"])];
        let renamed = rename("a.b.c[1] > 2 and a.b<a_b.c", &systems, &[]);
        assert_eq!(renamed.text, "a_b_c_1_ > 2 and a_b<a_b_c");
        assert_eq!(renamed.variables.len(), 3);
    }

    #[test]
    fn two_variables_never_share_a_name() {
        let systems = [interface("a", &["b_c"]), interface("a_b", &["c"])];
        let renamed = rename("a.b_c > a_b.c", &systems, &[]);
        assert_eq!(renamed.text, "a_b_c > a_b_c_");
    }

    #[test]
    fn what_is_no_variable_stays() {
        let systems = [interface("tank", &["level"])];
        let text = "tank.levels > 1.5 and xtank.level > tank.h";
        assert_eq!(rename(text, &systems, &[]).text, text);
    }
}
