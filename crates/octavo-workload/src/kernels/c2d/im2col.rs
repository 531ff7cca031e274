//! Unrolls images into a matrix: row = element under the convolution kernel, column = position of the kernel.

use octavo_program::{Cursor, LINE_BYTES, Launch, Op, OpSink, Resources};

use super::layer::Layer;
use super::step::{Step, arguments, registers};
use crate::emit::{load_lanes, store_lanes};
use crate::kernels::matrix::{ELEMENT_BYTES, Matrix, Rows};

/// Threads along each side of a work-group.
const THREADS: u64 = 8;

/// Columns from which on no two of a wavefront's rows share a line.
const WIDE: u64 = 24;

/// `im2col_2d`: one thread an element of the matrix, x along its columns; work-groups of 8x8, one wavefront.
#[derive(Debug)]
pub struct Im2col {
    pub layer: Layer,
    /// First byte of the input, batch x channels x side x side.
    pub input: u64,
    /// The matrix, field x output pixels.
    pub columns: Matrix,
}

/// The elements of the matrix that one work-group writes.
struct Tile {
    row: u64,
    rows: u64,
    column: u64,
    columns: u64,
}

/// Where the convolution kernel stands for one column.
struct Position {
    image: u64,
    y: u64,
    x: u64,
}

/// The element of the convolution kernel that one row is for.
struct Element {
    channel: u64,
    y: u64,
    x: u64,
}

impl Element {
    #[inline]
    fn of_row(row: u64, kernel: u64) -> Self {
        Self { channel: row / (kernel * kernel), y: row / kernel % kernel, x: row % kernel }
    }

    /// Moves to the next row; without a division, as this decides how fast the stream is produced.
    #[inline]
    fn advance(&mut self, kernel: u64) {
        self.x += 1;
        if self.x == kernel {
            (self.x, self.y) = (0, self.y + 1);
        }
        if self.y == kernel {
            (self.y, self.channel) = (0, self.channel + 1);
        }
    }
}

impl Step for Im2col {
    fn launch(&self) -> Launch {
        let work_groups = self.groups_x() * self.layer.field().div_ceil(THREADS);
        Launch { kernel: "im2col_2d".into(), work_groups: work_groups as u32, wavefronts_per_group: 1 }
    }

    fn resources(&self) -> Resources {
        registers(13, 30)
    }

    fn fill(&self, group: u64, _wavefront: u64, _cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let tile = self.tile(group);
        // Two integer divisions a coordinate make up most of the kernel.
        out.push(Op::mix(0, 1, 0, 0));
        arguments(out, &[Op::mix(156, 27, 0, 2)]);
        out.push(Op::mix(8, 0, 0, 0));
        self.load(&tile, out);
        out.push(Op::mix(2, 1, 0, 0));
        out.push(Op::WAIT);
        out.push(Op::mix(6, 0, 0, 0));
        out.push(Op::WAIT);
        self.store(&tile, out);
        out.push(Op::END);
    }
}

/// A load of all lines from the first to the last.
fn load_of((first, last): (u64, u64)) -> Op {
    Op::load(first, (last - first + 1) as u32)
}

impl Im2col {
    fn groups_x(&self) -> u64 {
        self.layer.output_pixels().div_ceil(THREADS)
    }

    fn tile(&self, group: u64) -> Tile {
        let (row, column) = (group / self.groups_x() * THREADS, group % self.groups_x() * THREADS);
        Tile {
            row,
            rows: THREADS.min(self.layer.field() - row),
            column,
            columns: THREADS.min(self.layer.output_pixels() - column),
        }
    }

    /// Loads nothing where the whole tile lies in the padding.
    fn load(&self, tile: &Tile, out: &mut OpSink<'_>) {
        let first = self.position(tile.column);
        if self.lines_go_up(tile, &first) {
            return self.load_runs(tile, &first, out);
        }
        let kernel = self.layer.kernel;
        let columns = tile.column..tile.column + tile.columns;
        let threads = (tile.row..tile.row + tile.rows).flat_map(|row| columns.clone().map(move |column| (row, column)));
        let pixel = |(row, column)| self.pixel(&self.position(column), &Element::of_row(row, kernel));
        load_lanes(out, threads.filter_map(pixel));
    }

    /// Whether lanes touch lines in ascending order. They do if neighbouring threads read the same or neighbouring
    /// lines of one image row, and image rows are so long that what the wavefront reads of two of them shares no line.
    /// Also, no later row of threads may begin further left than an earlier one, as with a stride it may at the left
    /// border.
    fn lines_go_up(&self, tile: &Tile, first: &Position) -> bool {
        let Layer { stride, side, kernel, padding, .. } = self.layer;
        let same_row = first.x + tile.columns <= self.layer.output_side();
        let long = side >= THREADS * stride + kernel + LINE_BYTES / ELEMENT_BYTES;
        same_row && long && (stride == 1 || stride == 2 && first.x * stride >= padding)
    }

    /// The load where lines go up: what follows a run of lines without a gap extends it.
    fn load_runs(&self, tile: &Tile, first: &Position, out: &mut OpSink<'_>) {
        let mut run: Option<(u64, u64)> = None;
        let mut element = Element::of_row(tile.row, self.layer.kernel);
        for _ in 0..tile.rows {
            let ends = self.ends(first, tile.columns, &element);
            element.advance(self.layer.kernel);
            let Some((begin, end)) = ends else { continue };
            let (begin, end) = (begin / LINE_BYTES, end / LINE_BYTES);
            run = match run {
                Some((start, last)) if begin <= last + 1 => Some((start, last.max(end))),
                Some(done) => {
                    out.push(load_of(done).continued());
                    Some((begin, end))
                }
                None => Some((begin, end)),
            };
        }
        if let Some(last) = run {
            out.push(load_of(last));
        }
    }

    fn store(&self, tile: &Tile, out: &mut OpSink<'_>) {
        if self.layer.output_pixels() >= WIDE {
            let Tile { row, column, columns, .. } = *tile;
            return self.columns.store(out, Rows { row, step: 1, count: tile.rows as u32, column, columns });
        }
        let threads = (tile.row..tile.row + tile.rows)
            .flat_map(|row| (tile.column..tile.column + tile.columns).map(move |column| (row, column)));
        store_lanes(out, threads.map(|(row, column)| self.columns.at(row, column)), ELEMENT_BYTES);
    }

    fn position(&self, column: u64) -> Position {
        let side = self.layer.output_side();
        let (image, place) = (column / (side * side), column % (side * side));
        Position { image, y: place / side, x: place % side }
    }

    /// Address of the pixel under `element` at `position`, unless it lies in the padding.
    fn pixel(&self, position: &Position, element: &Element) -> Option<u64> {
        self.ends(position, 1, element).map(|(pixel, _)| pixel)
    }

    /// Addresses of the first and last pixel outside the padding under `element` for the `columns` positions from
    /// `first` on, all in one row of an image.
    #[inline]
    fn ends(&self, first: &Position, columns: u64, element: &Element) -> Option<(u64, u64)> {
        let start = self.image_row(first, element)?;
        let Layer { padding, side, stride, .. } = self.layer;
        let x = first.x * stride + element.x;
        let (mut skipped, mut reached) = (0, columns);
        if x < padding {
            skipped = (padding - x).div_ceil(stride);
        }
        if x + (columns - 1) * stride >= padding + side {
            reached = (padding + side).saturating_sub(x).div_ceil(stride);
        }
        let address = |column| start + (x + column * stride - padding) * ELEMENT_BYTES;
        (skipped < reached).then(|| (address(skipped), address(reached - 1)))
    }

    /// Address of the first pixel of the image row under `element` at `position`, unless it lies in the padding.
    #[inline]
    fn image_row(&self, position: &Position, element: &Element) -> Option<u64> {
        let Layer { padding, side, channels, stride, .. } = self.layer;
        let y = (position.y * stride + element.y).checked_sub(padding).filter(|&y| y < side)?;
        let plane = position.image * channels + element.channel;
        Some(self.input + (plane * side + y) * side * ELEMENT_BYTES)
    }
}
