//! The pages that wavefronts access, one after another, for replay by another model of memory.

use octavo_manager::MemoryConfig;
use octavo_node::NodeConfig;

use crate::error::SimError;
use crate::functional::options::InstantOptions;
use crate::functional::run::Begun;
use crate::job::{Job, side_by_side};
use crate::machine::occurrence::{Happening, Listen};
use crate::observe::table::{Column, Table};

/// Accesses in a row to one page by loads or by stores are one.
#[derive(Default)]
struct PageOrder {
    launch: u64,
    launches: Vec<u64>,
    pages: Vec<u64>,
    stores: Vec<u64>,
    times: Vec<u64>,
}

impl Listen for PageOrder {
    fn hear(&mut self, _now: u64, what: Happening<'_>) {
        match what {
            Happening::Accessed { page, write, .. } => self.note(page.into(), write.into()),
            Happening::Kernel { .. } => self.launch += 1,
            _ => {}
        }
    }
}

impl PageOrder {
    fn note(&mut self, page: u64, store: u64) {
        let last = (self.launches.last(), self.pages.last(), self.stores.last());
        if last == (Some(&self.launch), Some(&page), Some(&store)) {
            *self.times.last_mut().expect("as long as the others") += 1;
            return;
        }
        self.launches.push(self.launch);
        self.pages.push(page);
        self.stores.push(store);
        self.times.push(1);
    }
}

/// The pages that a workload's launches access on a node without time, regardless of the contents of its memory. The
/// table `page_order` has the launch, the page, whether it is stored to (1) or loaded (0), and the number of accesses
/// in a row. On one GPU no memory system changes the order.
///
/// # Errors
/// As for [`run_jobs_at_once`](crate::run_jobs_at_once); or there is more than launches.
pub fn page_order(node: &NodeConfig, memory: &MemoryConfig, job: &Job<'_>, turn: u32) -> Result<Table, SimError> {
    node.validate()?;
    if job.program.is_some() {
        let reason = "the order of pages is that of launches alone, found a whole program: expected `program.kind = \"launches\"`";
        return Err(SimError::Program { reason: reason.to_owned() });
    }
    let jobs = [job.clone()];
    side_by_side(memory, &jobs, |workload, programs| {
        let options = InstantOptions { turn, report_lines: None, record_events: false, memory: None, progress: None };
        let begun = Begun::new(node, memory, (&jobs, workload, programs), None)?;
        let order = begun.run(options, PageOrder::default())?.machine.tables.listeners;
        let columns = vec![
            Column::u64("launch", order.launches),
            Column::u64("page", order.pages),
            Column::u64("store", order.stores),
            Column::u64("times", order.times),
        ];
        Ok(Table::new("page_order", columns))
    })
}
