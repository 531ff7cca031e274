//! Notifications of counters and periodic reports on their way to the driver.

use octavo_manager::{CounterNotification, HOST, MemoryId, PageId, ProcessorId};

use crate::engine::event::Kind;
use crate::fabric::links::Traffic;
use crate::machine::hardware::Hardware;
use crate::machine::node::Node;
use crate::machine::occurrence::{Happening, Listen};

impl<L: Listen> Hardware<'_, L> {
    /// Counts remote lines of `gpu`; a notification leaves for the host when the threshold is reached.
    #[inline]
    pub(super) fn count_remote(&mut self, gpu: usize, page: u32, owner: MemoryId, lines: u32, time: u64) {
        match owner.gpu_index() {
            Some(_) => self.accesses.remote_gpu_lines += u64::from(lines),
            None => self.accesses.remote_host_lines += u64::from(lines),
        }
        self.reports.count(gpu, page, lines);
        self.say(Happening::RemoteLines { page, lines });
        if self.counters.add(gpu, page, lines) {
            self.notify(gpu, page, time);
        }
    }

    fn notify(&mut self, gpu: usize, page: u32, time: u64) {
        let processor = ProcessorId::gpu(gpu);
        let number = self.counters.sent(CounterNotification { processor, page: PageId(page) });
        let arrives = self.send_to_host(time, gpu, self.costs.fault_bytes);
        self.clock.schedule(arrives, Kind::CounterArrives, number);
    }

    /// Sends a message of a GPU to the host; returns when it arrives.
    pub(super) fn send_to_host(&mut self, time: u64, gpu: usize, bytes: u64) -> u64 {
        let path = (ProcessorId::gpu(gpu), HOST);
        self.links.send(self.clock.now(), time, path, bytes, Traffic::Control)
    }

    /// All GPUs send their counts to the host; the driver has them when the last have arrived.
    pub(super) fn report_due(&mut self) {
        let Some(period) = self.reports.period(self.costs.cycle) else { return };
        let now = self.clock.now();
        let mut counts = Vec::new();
        let mut arrives = now;
        for gpu in 0..self.gpus.len() {
            let before = counts.len();
            self.reports.take(gpu, &mut counts);
            let bytes = (counts.len() - before) as u64 * self.reports.entry_bytes();
            if bytes > 0 {
                arrives = arrives.max(self.send_to_host(now, gpu, bytes));
            }
        }
        if !counts.is_empty() {
            counts.sort_unstable_by_key(|count| (count.page, count.processor));
            let number = self.reports.sent(counts);
            self.clock.schedule(arrives, Kind::ReportArrives, number);
        }
        self.clock.schedule_periodic(now + period, Kind::ReportDue);
    }
}

impl<L: Listen> Node<'_, L> {
    /// A notification reaches the driver.
    pub(super) fn counter_arrives(&mut self, number: u32) {
        let hardware = &mut self.hardware;
        let notification = hardware.counters.arrived(number);
        hardware.say(Happening::Notified { gpu: notification.processor, page: notification.page.0 });
        self.drive(|driver, now, hardware| driver.counter(now, notification, hardware));
    }

    /// A report reaches the driver.
    pub(super) fn report_arrives(&mut self, number: u32) {
        let counts = self.hardware.reports.arrived(number);
        self.drive(|driver, now, hardware| driver.report(now, &counts, hardware));
    }
}
