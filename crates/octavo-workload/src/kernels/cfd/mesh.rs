//! A mesh of tetrahedra, as far as a solver's addresses depend on it: which cells are neighbours.

use rand_chacha::rand_core::RngCore;

use crate::random::generator;

/// Neighbours of a tetrahedron.
pub const NEIGHBOURS: usize = 4;
/// In place of a neighbour: the body.
pub const WING: i32 = -1;
/// In place of a neighbour: the flow there is the same as without the body.
pub const FAR_FIELD: i32 = -2;

/// The neighbours of each element.
pub struct Mesh {
    /// Numbers of elements, or [`WING`] or [`FAR_FIELD`].
    pub neighbours: Vec<[i32; NEIGHBOURS]>,
}

/// The orders of three axes. Each is a tetrahedron of a cube: along its edges one gets from the corner with the lowest
/// coordinates to that with the highest, one axis after another (Kuhn's subdivision).
const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

impl Mesh {
    /// `side`^3 cubes of six elements each, the bottom a wing, the other sides far away. Elements are numbered cube by
    /// cube and shuffled within windows of `window` elements.
    #[must_use]
    pub fn cubes(side: u32, window: u32, seed: u64) -> Self {
        let count = ORDERS.len() * (side as usize).pow(3);
        let numbers = shuffled(count, window as usize, seed);
        let mut neighbours = vec![[WING; NEIGHBOURS]; count];
        for (element, number) in numbers.iter().enumerate() {
            let at = Tetrahedron::nth(element, side);
            neighbours[*number as usize] = at.neighbours().map(|next| match next {
                Ok(next) => numbers[next.number()] as i32,
                Err(boundary) => boundary,
            });
        }
        Self { neighbours }
    }
}

/// One element, before it gets its number.
#[derive(Clone, Copy)]
struct Tetrahedron {
    side: u32,
    cube: [u32; 3],
    order: [usize; 3],
}

impl Tetrahedron {
    fn nth(element: usize, side: u32) -> Self {
        let (cube, order) = ((element / ORDERS.len()) as u32, ORDERS[element % ORDERS.len()]);
        Self { side, cube: [cube % side, cube / side % side, cube / side / side], order }
    }

    fn number(self) -> usize {
        let [x, y, z] = self.cube;
        let order = ORDERS.iter().position(|order| *order == self.order).unwrap_or_default();
        ((z * self.side + y) * self.side + x) as usize * ORDERS.len() + order
    }

    /// Beyond the faces opposite to the four corners, in order: two in other cubes, two in this one.
    fn neighbours(self) -> [Result<Self, i32>; NEIGHBOURS] {
        let [first, second, third] = self.order;
        [
            self.beyond(first, true, [second, third, first]),
            Ok(Self { order: [second, first, third], ..self }),
            Ok(Self { order: [first, third, second], ..self }),
            self.beyond(third, false, [third, first, second]),
        ]
    }

    /// The element of the next cube along an axis that shares a face, or the boundary there.
    fn beyond(self, axis: usize, up: bool, order: [usize; 3]) -> Result<Self, i32> {
        let mut cube = self.cube;
        if up && cube[axis] + 1 == self.side {
            return Err(FAR_FIELD);
        }
        if !up && cube[axis] == 0 {
            return Err(if axis == 2 { WING } else { FAR_FIELD });
        }
        cube[axis] = if up { cube[axis] + 1 } else { cube[axis] - 1 };
        Ok(Self { cube, order, ..self })
    }
}

/// The numbers below `count`, shuffled within windows.
fn shuffled(count: usize, window: usize, seed: u64) -> Vec<u32> {
    let mut random = generator(seed, 0);
    let mut numbers: Vec<u32> = (0..count as u32).collect();
    for window in numbers.chunks_mut(window) {
        for last in (1..window.len()).rev() {
            let other = (u64::from(random.next_u32()) * (last as u64 + 1)) >> 32;
            window.swap(last, other as usize);
        }
    }
    numbers
}
