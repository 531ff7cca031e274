//! Records what an unmodified CUDA program allocates, copies and launches, or allocates and moves its memory
//! differently: preload this library with `LD_PRELOAD`, with `OCTAVO_RECORD` naming the profile to write, or
//! `OCTAVO_APPLY` the placement file to apply.
//!
//! | module | what it does |
//! |---|---|
//! | `settings` | reads the environment |
//! | `hooks` | the functions that replace the runtime's and the driver's |
//! | `real` | finds the functions behind them |
//! | `lookup` | replaces `dlsym` and `cuGetProcAddress`, by which statically linked runtimes find the driver; knows all hooks by name |
//! | `nesting` | what the runtime calls of the driver belongs to the call of the runtime |
//! | `launch`, `mangled`, `pages`, `events` | what a launch uses, what of it the host has touched, and when it ran |
//! | `around` | what happens before and after launches and waits |
//! | `site` | who called |
//! | `recorder` | what is recorded |
//! | `apply` | what is allocated otherwise |
//! | `life` | the beginning and the end of a process, and forks |
//!
//! A hook calls the function behind it with the same arguments and returns its result, unless a placement file concerns
//! the memory. Functions without a hook are not touched. Without `OCTAVO_RECORD` and `OCTAVO_APPLY`, or with
//! `OCTAVO_DISABLE`, it does nothing. Linux on x86-64 with glibc.
#![expect(unsafe_code, reason = "it stands between C programs and C libraries")]
#![cfg_attr(test, allow(dead_code, reason = "nothing stands before the functions of the tests themselves"))]
#![cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]

mod apply;
mod around;
mod calls;
mod events;
mod guard;
mod hooks;
mod kind;
mod launch;
mod life;
mod lookup;
mod nesting;
mod output;
mod pages;
mod patience;
mod ranges;
mod real;
mod recorder;
mod settings;
mod site;
mod symbols;
