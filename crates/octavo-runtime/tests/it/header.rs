//! The header and the library are in step.

use std::collections::BTreeMap;
use std::mem::{offset_of, size_of};
use std::process::Command;

use octavo::abi::{self, Answer, Data};

use crate::installed::{Installed, Link, ran, text};

const HEADER: &str = include_str!("../../include/octavo.h");

/// Numbers that the header defines.
fn defined() -> BTreeMap<&'static str, i64> {
    let lines = HEADER.lines().filter_map(|line| line.strip_prefix("#define "));
    let pairs = lines.filter_map(|line| line.split_once(' '));
    pairs
        .filter_map(|(name, rest)| {
            let number = rest.split("/*").next().unwrap().trim().trim_matches(['(', ')', 'u']);
            Some((name, number.parse().ok()?))
        })
        .collect()
}

#[test]
fn numbers_are_those_of_the_library() {
    let mut expected: BTreeMap<&str, i64> = BTreeMap::from([
        ("OCTAVO_ABI", abi::ABI.into()),
        ("OCTAVO_OK", abi::OK.into()),
        ("OCTAVO_ASSUMED_MACHINE", abi::ASSUMED_MACHINE.into()),
        ("OCTAVO_BAD_ARGUMENT", abi::BAD_ARGUMENT.into()),
        ("OCTAVO_NO_FILE", abi::NO_FILE.into()),
        ("OCTAVO_BAD_FILE", abi::BAD_FILE.into()),
        ("OCTAVO_DOES_NOT_FIT", abi::DOES_NOT_FIT.into()),
        ("OCTAVO_INTERNAL", abi::INTERNAL.into()),
        ("OCTAVO_DEVICE_FIRST", abi::DEVICE_FIRST.into()),
        ("OCTAVO_WRITE_SHARED", abi::WRITE_SHARED.into()),
        ("OCTAVO_SEEN_BY_HOST", abi::SEEN_BY_HOST.into()),
        ("OCTAVO_SWEPT", abi::SWEPT.into()),
    ]);
    let names = abi::PLACEMENTS.iter().map(|(_, name)| *name).enumerate();
    let names: Vec<_> = names.chain(abi::TERMS.iter().map(|(_, name)| *name).enumerate()).collect();
    let spelled: Vec<_> = names
        .iter()
        .map(|(number, name)| {
            let name = name.to_str().unwrap().replace(' ', "_").to_uppercase();
            (format!("OCTAVO_{name}"), *number as i64)
        })
        .collect();
    expected.extend(spelled.iter().map(|(name, number)| (name.as_str(), *number)));
    assert_eq!(defined(), expected);
}

/// Names and offsets of fields, as Rust lays them out.
macro_rules! layout {
    ($name:ident { $($field:ident),* $(,)? }) => {
        vec![$((stringify!($field), offset_of!($name, $field))),*, ("", size_of::<$name>())]
    };
}

#[test]
fn structures_are_laid_out_as_c_does() {
    let data = layout!(Data {
        struct_size,
        flags,
        bytes,
        touched,
        visits,
        accessed_bytes,
        operations,
        blocks,
        threads_per_block,
        kernel_seconds,
        line_bytes,
        faults_together,
        copied_in,
        copied_out,
        copies,
        stalled_seconds,
    });
    let answer = layout!(Answer { struct_size, placement, dominant, exact, managed_seconds, pinned_seconds });
    let program = Installed::new().compiled_and_kept("layout.c");
    let said = text(&ran(&mut Command::new(&program.1)));
    let expected: Vec<String> = data
        .iter()
        .map(|(field, at)| format!("data {field} {at}"))
        .chain(answer.iter().map(|(field, at)| format!("answer {field} {at}")))
        .collect();
    assert_eq!(said.lines().collect::<Vec<_>>(), expected);
}

impl Installed {
    /// A program, and the folder that it needs.
    fn compiled_and_kept(self, source: &str) -> (Self, std::path::PathBuf) {
        let program = self.compiled(source, Link::Shared);
        (self, program)
    }
}
