//! A few servers that take requests one at a time: page-table walkers, driver threads.

/// Servers by the time each becomes free. Requests must come roughly in order of time.
pub(crate) struct Pool {
    free: Vec<u64>,
}

impl Pool {
    pub fn new(servers: u32) -> Self {
        Self { free: vec![0; servers as usize] }
    }

    /// The server that is free first, and from when on.
    pub fn first_free(&self) -> (usize, u64) {
        let first = (0..self.free.len()).min_by_key(|&server| self.free[server]).unwrap_or(0);
        (first, self.free[first])
    }

    /// Occupies a server until then.
    pub fn occupy(&mut self, server: usize, until: u64) {
        self.free[server] = until;
    }

    /// Occupies the server that is free first for `cost`, from `time` on; returns when it is done.
    #[inline]
    pub fn reserve(&mut self, time: u64, cost: u64) -> u64 {
        let (first, free) = self.first_free();
        let done = free.max(time) + cost;
        self.occupy(first, done);
        done
    }
}

#[cfg(test)]
mod tests {
    use super::Pool;

    #[test]
    fn requests_wait_for_the_first_free_server() {
        let mut pool = Pool::new(2);
        assert_eq!([pool.reserve(0, 10), pool.reserve(0, 4), pool.reserve(1, 10), pool.reserve(1, 1)], [10, 4, 14, 11]);
    }
}
