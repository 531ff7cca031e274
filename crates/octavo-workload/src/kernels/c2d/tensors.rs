//! The tensors of the layer, and the launches that lead from one to the next.

use octavo_program::AddressSpace;

use super::elementwise::{Copy, Repeat};
use super::im2col::Im2col;
use super::layer::Layer;
use super::product::Product;
use super::step::Step;
use super::transpose::{Gather, Transpose};
use crate::kernels::matrix::{ELEMENT_BYTES, Matrix};

/// Where the tensors lie: first byte of those that are copied whole, matrices otherwise.
pub struct Tensors {
    input: u64,
    input_clone: u64,
    /// Weights, then biases.
    parameters: u64,
    /// Field x output pixels.
    im2col: Matrix,
    /// Output channels x field.
    weights: Matrix,
    /// Output pixels x output channels.
    biases: Matrix,
    /// Output channels x output pixels, like the next two; the output's rows are images.
    biases_transposed: Matrix,
    product: Matrix,
    output: Matrix,
}

impl Tensors {
    /// Allocates them in the order in which the program does.
    pub fn allocate(space: &mut AddressSpace, layer: &Layer) -> Self {
        let mut vector = |name, elements| space.allocate(name, elements * ELEMENT_BYTES).base;
        let input = vector("input", layer.input_elements());
        let input_clone = vector("input_clone", layer.input_elements());
        let parameters = vector("parameters", layer.weights() + layer.output_channels);
        let (channels, pixels) = (layer.output_channels, layer.output_pixels());
        let mut matrix = |name, rows, columns| Matrix::allocate(space, name, rows, columns);
        Self {
            input,
            input_clone,
            parameters,
            im2col: matrix("im2col", layer.field(), pixels),
            weights: matrix("weights", channels, layer.field()),
            biases: matrix("biases", pixels, channels),
            biases_transposed: matrix("biases_transposed", channels, pixels),
            product: matrix("product", channels, pixels),
            output: matrix("output", channels, pixels),
        }
    }

    /// The launches of the forward pass; allocates the index buffers of the transposes.
    pub fn steps(&self, space: &mut AddressSpace, layer: Layer) -> Vec<Box<dyn Step>> {
        let (weights, elements) = (layer.weights(), layer.output_elements());
        let bias = self.parameters + weights * ELEMENT_BYTES;
        let biases = self.biases.at(0, 0);
        vec![
            Box::new(Copy { from: self.input, to: self.input_clone, elements: layer.input_elements() }),
            Box::new(Im2col { layer, input: self.input, columns: self.im2col }),
            Box::new(Copy { from: self.parameters, to: self.weights.at(0, 0), elements: weights }),
            Box::new(Repeat { from: bias, period: layer.output_channels, to: biases, elements }),
            Box::new(self.transpose_biases(space, &layer)),
            Box::new(self.multiply(&layer)),
            Box::new(self.transpose_output(space, &layer)),
        ]
    }

    fn multiply(&self, layer: &Layer) -> Product {
        Product {
            rows: layer.output_channels,
            inner: layer.field(),
            columns: layer.output_pixels(),
            a: self.weights,
            b: self.im2col,
            c: self.biases_transposed,
            d: self.product,
        }
    }

    /// From pixel x channel to channel x pixel.
    fn transpose_biases(&self, space: &mut AddressSpace, layer: &Layer) -> Transpose {
        let channels = layer.output_channels;
        let gather = Gather { length: layer.output_pixels(), stride: channels, period: channels, inner: 1, outer: 0 };
        let tensors = (self.biases.at(0, 0), self.biases_transposed.at(0, 0), layer.output_elements());
        Transpose::allocate(space, "transpose1", tensors, &[1, 0], gather)
    }

    /// From channel x image x y x x to image x channel x y x x.
    fn transpose_output(&self, space: &mut AddressSpace, layer: &Layer) -> Transpose {
        let image = layer.output_side() * layer.output_side();
        let (period, inner, outer) = (layer.output_channels, layer.batch * image, image);
        let gather = Gather { length: image, stride: 1, period, inner, outer };
        let tensors = (self.product.at(0, 0), self.output.at(0, 0), layer.output_elements());
        Transpose::allocate(space, "transpose2", tensors, &[1, 0, 2, 3], gather)
    }
}
