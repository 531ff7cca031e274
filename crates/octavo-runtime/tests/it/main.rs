//! Tests of the whole library, in one program: most compile C or C++ against it as a user does.
#![expect(unsafe_code, reason = "the interface is C's")]

mod answers;
mod header;
mod installed;
mod numbers;
mod programs;
mod tier;
