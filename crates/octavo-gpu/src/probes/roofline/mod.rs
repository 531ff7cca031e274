//! Host or device for a structure: the roofline with the interconnect, measured.
//!
//! A structure of S bytes, of which the share σ is touched, with α operations for each touched byte, comes back to the
//! GPU ρ times. So that points compare with the ceilings of `octavo-advise`, B is the bytes touched, σ·S:
//!
//! - operations: Q = α·B, whatever ρ is, counted as two for each multiplication with addition (`count`);
//! - placed on the device: all of S is copied from pinned memory (`copy_seconds`, t_cp/σ of equation 3). Then the
//!   kernel runs on the GPU's memory (`seconds`, t of equation 2). Performance is Q / (`seconds` + `copy_seconds`);
//! - placed on the host: managed memory that the processor has written. The kernel runs ρ times with Q/ρ operations
//!   each. Before each time but the first the processor writes the touched pages, which brings them back to the host.
//!   `seconds` is the sum of the kernels alone: B·ρ bytes cross the link in it, and performance is Q / `seconds`
//!   (equation 4).
//!
//! Touched pages come in runs of the driver's block (2 MiB, less for small structures), evenly spaced, with every page
//! of a run: a fault then never brings untouched pages. `roofline_scattered` touches the same share in single pages
//! evenly apart, for which the driver fetches at least 64 KiB each. The distance to the ceilings is due to the driver,
//! which they do not model.

mod host;
mod structure;
mod work;

use crate::driver::source::Source;
use crate::error::GpuError;
use crate::session::Session;
use crate::session::effort::Effort;
use crate::session::probe::Probe;
use crate::session::samples::Row;
use structure::{Share, Structure};
use work::{Amount, Work};

/// The empirical roofline.
pub(crate) struct Roofline;

const SHARES: (&[u32], &[u32]) = (&[64, 4, 1], &[64, 32, 16, 8, 4, 2, 1]);
const INTENSITIES: (&[f64], &[f64]) = (&[0.25, 8.0, 256.0], &[0.25, 1.0, 4.0, 16.0, 64.0, 256.0]);
const MIGRATIONS: (&[u32], &[u32]) = (&[1, 4], &[1, 2, 4, 8]);
const SCATTERED_INTENSITIES: (&[f64], &[f64]) = (&[0.25], &[0.25, 16.0]);

/// One point of the grid.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    series: &'static str,
    placement: &'static str,
    /// 1/σ.
    of: u32,
    alpha: f64,
    rho: u32,
}

impl Probe for Roofline {
    fn name(&self) -> &'static str {
        "roofline"
    }

    fn title(&self) -> &'static str {
        "the roofline with the interconnect: touched share, operations a byte and migrations, on host and device"
    }

    fn about(&self) -> &'static str {
        "A kernel reads the share sigma of a structure (1/64 to 1, in runs of 2 MiB) and does alpha operations for each \
         byte it reads (1/4 to 256, multiply-adds in single precision, counted as two). Placed on the device, the whole \
         structure is copied there first, from pinned memory, and the copy is timed apart. Placed on the host, it is \
         managed memory that comes over on demand, rho times: the operations are spread over as many runs of the kernel, \
         between which the processor writes the touched pages; the time is that of the kernels. Times are by events. \
         The series roofline_scattered touches single pages instead of runs."
    }

    fn source(&self) -> Source {
        Source { name: "roofline.cu", body: include_str!("../roofline.cu") }
    }

    fn measure(&self, session: &mut Session<'_>) -> Result<(), GpuError> {
        let size = structure::size(session);
        let moves = lacking(session);
        if let Some(reason) = moves {
            session.skip("roofline", format!("{reason}: measured on the device alone"));
            session.skip("roofline_scattered", reason);
        }
        let points: Vec<Point> = grid(session.request.effort)
            .into_iter()
            .filter(|point| moves.is_none() || point.placement == "device")
            .collect();
        session.steps(points.len());
        let work = Work::new(session)?;
        let device = structure::OnDevice::new(session.gpu, size)?;
        for point in points {
            session.step(&point.words())?;
            measure(session, &work, &device, point, size)?;
        }
        Ok(())
    }
}

fn lacking(session: &Session<'_>) -> Option<&'static str> {
    let moves = ["managed_memory", "concurrent_managed_access"].iter().all(|what| session.gpu.description.can(what));
    if moves { None } else { Some("this GPU does not fault on managed memory here") }
}

fn measure(
    session: &mut Session<'_>,
    work: &Work,
    device: &structure::OnDevice,
    point: Point,
    size: u64,
) -> Result<(), GpuError> {
    let share =
        if point.series == "roofline" { Share::in_runs(size, point.of) } else { Share::in_pages(size, point.of) };
    let structure = Structure { size, share };
    let amount = Amount::of(point.alpha, point.rho);
    let row = point.row(&structure, amount);
    session.repeat_rows(|session| {
        if point.placement == "host" {
            return Ok(vec![(row.clone(), host::run(session, work, &structure, amount, point.rho)?)]);
        }
        let copied = device.copy(session)?;
        let seconds = work.run(session, device.memory(), &structure.share, amount)?;
        work.check(&structure.share)?;
        Ok(vec![(row.clone().number("copy_seconds", copied), seconds)])
    })
}

/// Placed on the device there is nothing to migrate again.
fn grid(effort: Effort) -> Vec<Point> {
    let shares = effort.choose(SHARES.0, SHARES.1);
    let mut points = Vec::new();
    for &of in shares {
        for &alpha in effort.choose(INTENSITIES.0, INTENSITIES.1) {
            points.push(Point { series: "roofline", placement: "device", of, alpha, rho: 1 });
            let hosts = effort.choose(MIGRATIONS.0, MIGRATIONS.1).iter();
            points.extend(hosts.map(|&rho| Point { series: "roofline", placement: "host", of, alpha, rho }));
        }
    }
    for &of in shares.iter().filter(|&&of| of > 1) {
        let alphas = effort.choose(SCATTERED_INTENSITIES.0, SCATTERED_INTENSITIES.1).iter();
        let series = "roofline_scattered";
        points.extend(alphas.map(|&alpha| Point { series, placement: "host", of, alpha, rho: 1 }));
    }
    points
}

impl Point {
    fn words(&self) -> String {
        let pages = if self.series == "roofline" { "" } else { ", in single pages" };
        let Self { placement, of, alpha, rho, .. } = self;
        format!("{placement}: 1/{of} touched{pages}, {alpha} operations a byte, {rho} times over")
    }

    fn row(&self, structure: &Structure, amount: Amount) -> Row {
        Row::of(self.series)
            .word("placement", self.placement)
            .number("sigma", 1.0 / f64::from(self.of))
            .number("alpha", self.alpha)
            .integer("rho", self.rho.into())
            .bytes(structure.size)
            .count(amount.operations(&structure.share) * u64::from(self.rho))
    }
}

#[cfg(test)]
mod tests {
    use super::{Amount, Effort, Share, grid};

    #[test]
    fn operations_are_alpha_for_each_touched_byte_at_every_point() {
        for effort in [Effort::Quick, Effort::Full] {
            for point in grid(effort) {
                for size in [1_u64 << 20, 128 << 20] {
                    let share = if point.series == "roofline" { Share::in_runs } else { Share::in_pages };
                    let share = share(size, point.of);
                    let touched = size / u64::from(point.of);
                    assert_eq!(share.bytes(), touched, "{point:?}");
                    let operations = Amount::of(point.alpha, point.rho).operations(&share) * u64::from(point.rho);
                    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
                    let wanted = point.alpha * touched as f64;
                    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
                    let found = operations as f64;
                    assert!((found - wanted).abs() < 1e-9, "{point:?}: {operations} and not {wanted}");
                }
            }
        }
    }

    #[test]
    fn the_grid_has_every_combination_on_the_host_and_no_migration_on_the_device() {
        let points = grid(Effort::Full);
        let count = |series: &str, placement: &str| {
            points.iter().filter(|point| point.series == series && point.placement == placement).count()
        };
        assert_eq!(count("roofline", "host"), 7 * 6 * 4);
        assert_eq!(count("roofline", "device"), 7 * 6);
        assert_eq!(count("roofline_scattered", "host"), 6 * 2);
        assert!(points.iter().all(|point| point.rho == 1 || point.placement == "host"));
    }
}
