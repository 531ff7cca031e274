//! A few servers that take requests one at a time.

use octavo_units::Time;

/// Servers by the time each becomes free. Requests must come in order of time.
pub(crate) struct Pool {
    free: Vec<Time>,
    service: Time,
}

impl Pool {
    /// # Panics
    /// If there is no server.
    pub fn new(servers: u32, service: Time) -> Self {
        assert!(servers > 0, "a pool needs a server");
        Self { free: vec![Time::ZERO; servers as usize], service }
    }

    /// Has the server that is free first serve a request that comes `now`; answers from when to when.
    pub fn serve(&mut self, now: Time) -> (Time, Time) {
        let first = (0..self.free.len()).min_by_key(|&server| self.free[server]).unwrap_or(0);
        let from = self.free[first].max(now);
        self.free[first] = from + self.service;
        (from, self.free[first])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_wait_for_the_first_free_server() {
        let mut pool = Pool::new(2, Time(10));
        let served = [0, 0, 1, 30].map(|now| pool.serve(Time(now)));
        assert_eq!(served.map(|(from, until)| (from.0, until.0)), [(0, 10), (0, 10), (10, 20), (30, 40)]);
    }
}
