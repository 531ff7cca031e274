//! What workloads that wrap another one leave as it is.

/// Methods of `Workload` that ask the workload in the field `launches`: all that depends neither on buffers nor on
/// what wavefronts do.
macro_rules! forward_to_launches {
    () => {
        fn launches(&self) -> u32 {
            self.launches.launches()
        }

        fn launch(&self, index: u32) -> $crate::launches::Launch {
            self.launches.launch(index)
        }

        fn lives(&self) -> &[std::ops::Range<u32>] {
            self.launches.lives()
        }

        fn resources(&self, index: u32) -> $crate::launches::Resources {
            self.launches.resources(index)
        }

        fn flushed_before(&self, index: u32) -> bool {
            self.launches.flushed_before(index)
        }

        fn code_bytes(&self, index: u32) -> u64 {
            self.launches.code_bytes(index)
        }

        fn waits_for_some(&self) -> bool {
            self.launches.waits_for_some()
        }

        fn tells_dependences(&self) -> bool {
            self.launches.tells_dependences()
        }

        fn host_side(&self) -> $crate::host_side::HostSide {
            self.launches.host_side()
        }

        fn failure(&self) -> Option<String> {
            self.launches.failure()
        }

        fn held_bytes(&self) -> u64 {
            self.launches.held_bytes()
        }

        fn footprint(&self) -> u64 {
            self.launches.footprint()
        }
    };
}

pub(crate) use forward_to_launches;
