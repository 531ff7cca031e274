//! Programs that really run, on a driver that stands in for CUDA's and whose memory is the host's.
#![cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]

mod apply;
mod built;
mod copies;
mod moves;
mod record;
