//! Unrolls images into a matrix: row = element under the convolution kernel, column = position of the kernel.

use super::layer::Layer;
use super::step::Step;
use crate::emit::{load_lanes, store_lanes};
use crate::kernels::matrix::{ELEMENT_BYTES, Matrix, Rows};
use crate::{Cursor, Launch, Op, OpSink};

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

/// Where the kernel stands for one column.
struct Position {
    image: u64,
    y: u64,
    x: u64,
}

impl Step for Im2col {
    fn launch(&self) -> Launch {
        let work_groups = self.groups_x() * self.layer.field().div_ceil(THREADS);
        Launch { kernel: "im2col_2d", work_groups: work_groups as u32, wavefronts_per_group: 1 }
    }

    fn fill(&self, group: u64, _wavefront: u64, _cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let tile = self.tile(group);
        // Two integer divisions a coordinate make up most of the kernel.
        out.push(Op::compute(164));
        let before = out.len();
        self.load(&tile, out);
        if out.len() > before {
            out.push(Op::compute(8));
            out.push(Op::WAIT);
        }
        self.store(&tile, out);
        out.push(Op::END);
    }
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

    /// Nothing where all of the tile lies in the padding.
    fn load(&self, tile: &Tile, out: &mut OpSink<'_>) {
        let first = self.position(tile.column);
        let rows = tile.row..tile.row + tile.rows;
        if self.layer.stride <= 2 && first.x + tile.columns <= self.layer.output_side() {
            // The pixels of a row of threads lie in one line or two neighbouring ones: its ends say which.
            load_lanes(out, rows.flat_map(|row| self.ends(&first, tile.columns, row)).flatten());
        } else {
            let columns = tile.column..tile.column + tile.columns;
            let threads = rows.flat_map(|row| columns.clone().map(move |column| (row, column)));
            load_lanes(out, threads.filter_map(|(row, column)| self.pixel(&self.position(column), row)));
        }
    }

    fn store(&self, tile: &Tile, out: &mut OpSink<'_>) {
        if self.layer.output_pixels() >= WIDE {
            let Tile { row, column, columns, .. } = *tile;
            return self.columns.store(out, Rows { row, step: 1, count: tile.rows as u32, column, columns });
        }
        let threads = (tile.row..tile.row + tile.rows)
            .flat_map(|row| (tile.column..tile.column + tile.columns).map(move |column| (row, column)));
        store_lanes(out, threads.map(|(row, column)| self.columns.at(row, column)));
    }

    fn position(&self, column: u64) -> Position {
        let side = self.layer.output_side();
        let (image, place) = (column / (side * side), column % (side * side));
        Position { image, y: place / side, x: place % side }
    }

    /// Address of the pixel under element `row` of the kernel at `position`, unless it lies in the padding.
    fn pixel(&self, position: &Position, row: u64) -> Option<u64> {
        let x = position.x * self.layer.stride + row % self.layer.kernel;
        let inside = self.layer.padding..self.layer.padding + self.layer.side;
        inside
            .contains(&x)
            .then(|| self.image_row(position, row))?
            .map(|start| start + (x - inside.start) * ELEMENT_BYTES)
    }

    /// Addresses of the first and last pixel outside the padding for the `columns` positions from `first` on.
    fn ends(&self, first: &Position, columns: u64, row: u64) -> [Option<u64>; 2] {
        let Some(start) = self.image_row(first, row) else { return [None; 2] };
        let Layer { kernel, padding, side, stride, .. } = self.layer;
        let x = first.x * stride + row % kernel;
        let skipped = padding.saturating_sub(x).div_ceil(stride);
        let reached = columns.min((padding + side).saturating_sub(x).div_ceil(stride));
        let address = |column| start + (x + column * stride - padding) * ELEMENT_BYTES;
        if skipped < reached { [Some(address(skipped)), Some(address(reached - 1))] } else { [None; 2] }
    }

    /// Address of the first pixel of the image row under element `row` of the kernel, unless it lies in the padding.
    fn image_row(&self, position: &Position, row: u64) -> Option<u64> {
        let Layer { kernel, padding, side, channels, .. } = self.layer;
        let (channel, kernel_y) = (row / (kernel * kernel), row / kernel % kernel);
        let y = (position.y * self.layer.stride + kernel_y).checked_sub(padding).filter(|&y| y < side)?;
        Some(self.input + ((position.image * channels + channel) * side + y) * side * ELEMENT_BYTES)
    }
}
