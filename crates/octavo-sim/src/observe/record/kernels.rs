//! The launches of a run.

use std::borrow::Cow;

use crate::bound::Recorded;
use crate::machine::occurrence::Work;
use crate::observe::table::{Column, TEXT_BYTES, Table};

/// A kernel that ran: its name, when it began and when it ended, and its wavefronts.
pub(super) struct Kernel {
    pub name: Cow<'static, str>,
    pub began: u64,
    pub ended: u64,
    pub work: Work,
}

impl Kernel {
    /// Memory of this many.
    pub const fn recorded(kernels: usize) -> Recorded {
        Recorded::stay(kernels, size_of::<Self>(), 5 * size_of::<u64>() + TEXT_BYTES)
    }
}

/// Kernels in simulated time.
pub(super) fn table(kernels: &[Kernel]) -> Table {
    let column = |name, value: fn(&Kernel) -> u64| Column::u64(name, kernels.iter().map(value).collect());
    let columns = vec![
        names(kernels),
        column("began_ps", |kernel| kernel.began),
        column("ended_ps", |kernel| kernel.ended),
        column("run_ps", |kernel| kernel.work.ran),
        column("wavefronts", |kernel| kernel.work.wavefronts),
        column("wavefront_ps", |kernel| kernel.work.resident),
    ];
    Table::new("kernels", columns)
}

/// Kernels that began and ended after this many line accesses.
pub(super) fn in_lines(kernels: &[Kernel]) -> Table {
    let lines = kernels.iter().map(|kernel| kernel.ended - kernel.began).collect();
    Table::new("kernels", vec![names(kernels), Column::u64("lines", lines)])
}

/// The column of their names.
pub(super) fn names(kernels: &[Kernel]) -> Column {
    Column::text("kernel", kernels.iter().map(|kernel| kernel.name.to_string()).collect())
}
