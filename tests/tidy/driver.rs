//! How much the types of the driver do that everything passes through. What is not the loop's own has a part with a
//! state and a file of its own, and gets the pen and not the core.

use super::repository::rust_files;
use super::rust::{is_for_tests, shipped_code};

const DRIVER: &str = "orchestrator/src/driver/";

/// The most methods and fields that a type of the driver may have.
const BOUNDS: [(&str, usize, usize); 3] =
    [("Core", 85, 9), ("FlowPen", 28, 10), ("LiveTurn", 10, 5)];

#[test]
fn the_loop_of_a_flow_does_little_besides_its_rounds() {
    let code: Vec<String> = rust_files()
        .into_iter()
        .filter(|file| file.path.starts_with(DRIVER) && !is_for_tests(&file.path))
        .map(|file| shipped_code(&file.text))
        .collect();
    for (name, methods_max, fields_max) in BOUNDS {
        let methods: usize = code.iter().map(|code| methods(code, name)).sum();
        let fields: usize = code.iter().map(|code| fields(code, name)).sum();
        assert!(
            methods <= methods_max,
            "{name} has {methods} methods, and {methods_max} may be: give what is not its own to a part"
        );
        assert!(
            (1..=fields_max).contains(&fields),
            "{name} has {fields} fields, and {fields_max} may be"
        );
    }
}

/// The methods that one file gives a type.
fn methods(code: &str, name: &str) -> usize {
    let head = format!("impl {name} {{");
    block_lines(code, &head)
        .filter(|line| {
            let item = line
                .strip_prefix("    ")
                .filter(|item| !item.starts_with(' '));
            item.is_some_and(|item| item.split(' ').any(|word| word == "fn"))
        })
        .count()
}

/// The fields of a type, if this file declares it.
fn fields(code: &str, name: &str) -> usize {
    let head = format!("struct {name} {{");
    block_lines(code, &head)
        .filter(|line| line.contains(": "))
        .count()
}

/// The lines of the blocks that begin with a head, without it.
fn block_lines<'c>(code: &'c str, head: &str) -> impl Iterator<Item = &'c str> {
    let mut is_inside = false;
    code.lines().filter(move |line| {
        if line.ends_with(head) {
            is_inside = true;
            return false;
        }
        is_inside &= !line.starts_with('}');
        is_inside
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_count_in_every_block_and_inner_functions_and_other_types_do_not() {
        let code = "impl A {\n    pub(super) const fn a() {\n        fn inner() {}\n    }\n}\nimpl B {\n    fn b() {}\n}\nimpl A {\n    fn c() {}\n}\n";
        assert_eq!(methods(code, "A"), 2);
    }

    #[test]
    fn fields_count_without_what_is_written_beside_them() {
        let code =
            "pub struct A {\n    pub(super) a: u8,\n\n    b: u8,\n}\nstruct AB {\n    c: u8,\n}\n";
        assert_eq!(fields(code, "A"), 2);
        assert_eq!(fields(code, "C"), 0);
    }
}
