//! C and C++ programs that really run.

use std::fs;
use std::process::Command;

use crate::installed::{Installed, Link, ran, text};

const ANSWERS: &str = "\
1 managed having
1 device faults
1 managed having
-1
-1
-1
-4
-1 -1 -1
";

#[test]
fn a_c_program_is_told_where_to_allocate_and_nothing_is_printed_beside() {
    let installed = Installed::new();
    for link in [Link::Shared, Link::Static] {
        let output = ran(Command::new(installed.compiled("ask.c", link)).env_remove("OCTAVO_CONSTANTS"));
        assert_eq!(text(&output), format!("1 cuda-sm90 []\n{ANSWERS}"), "{link:?}");
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn constants_come_from_a_file_or_from_the_environment() {
    let installed = Installed::new();
    let program = installed.compiled("ask.c", Link::Shared);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("constants.json");
    let built_in = include_str!("../../data/cuda-sm90.json");
    fs::write(&file, built_in.replace("\"name\": \"cuda-sm90\"", "\"name\": \"ours\"")).unwrap();
    let given = ran(Command::new(&program).arg(&file).env_remove("OCTAVO_CONSTANTS"));
    let found = ran(Command::new(&program).env("OCTAVO_CONSTANTS", &file));
    assert!(text(&given).starts_with("0 ours []\n0 managed having\n0 device faults\n1 managed having\n"));
    assert_eq!(text(&given), text(&found));
}

#[test]
fn a_file_that_holds_something_else_is_refused_with_what_was_found() {
    let installed = Installed::new();
    let program = installed.compiled("ask.c", Link::Shared);
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        ("{", "-3", "found no JSON"),
        ("format = 1\n[machine]\nname = \"a\"\n", "-3", "found a machine file: run `octavo constants"),
        ("{}", "-3", "found no key `constants`"),
        (r#"{"constants": 9, "name": "a", "system": {}}"#, "-3", "found format 9; this version reads 5"),
        (r#"{"constants": 5, "name": "a", "system": {}}"#, "-3", "missing field"),
    ];
    for (content, status, said) in cases {
        let file = folder.path().join("constants.json");
        fs::write(&file, content).unwrap();
        let output = text(&ran(Command::new(&program).arg(&file)));
        assert!(output.starts_with(status) && output.contains(said), "{content}: {output}");
    }
    let missing = text(&ran(Command::new(&program).arg(folder.path().join("missing.json"))));
    assert!(missing.starts_with("-2") && missing.contains("missing.json: No such file"), "{missing}");
}

#[test]
fn the_wrapper_closes_moves_and_throws() {
    let installed = Installed::new();
    for link in [Link::Shared, Link::Static] {
        let program = installed.compiled("wrapper.cpp", link);
        let output = ran(Command::new(program).arg("/nowhere/constants.json").env_remove("OCTAVO_CONSTANTS"));
        let expected = "\
cuda-sm90 assumed=1
device device
device managed
managed managed
alone: 1 faults
-1 a pointer is null, or a number is outside its range
-2
";
        assert_eq!(text(&output), expected, "{link:?}");
    }
}
