//! The tier's C interface.

use std::process::Command;

use crate::installed::{Installed, Link, ran, text};

#[test]
fn a_c_program_has_more_than_its_devices_hold_and_they_yield() {
    let installed = Installed::new();
    for link in [Link::Shared, Link::Static] {
        let output = ran(Command::new(installed.compiled("tier.c", link)).env_remove("OCTAVO_TIER"));
        let expected = "\
-1 [memory: expected sizes, such as 4GiB or 4GiB,2GiB, found `lots`]
0 0
20 20 -1 [the launch uses 2 pieces on device 0, which has room for 1: `buffer 0` 1, `buffer 1` 1]
0 0
4 1 1
1
1 1
0
";
        assert_eq!(text(&output), expected, "{link:?}");
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
