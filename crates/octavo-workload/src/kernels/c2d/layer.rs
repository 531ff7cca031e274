//! The shape of a convolution layer.

use octavo_registry::OptionError;

use crate::kernels::matrix::ELEMENT_BYTES;

/// Elements of one tensor at most: 64 GiB, eight times what the indices of the real kernels can count.
const LARGEST_TENSOR: u64 = 1 << 34;

/// A convolution layer on square fp32 images with square kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Images.
    pub batch: u64,
    /// Channels of an input image.
    pub channels: u64,
    /// Channels of an output image.
    pub output_channels: u64,
    /// Side of an input image in pixels.
    pub side: u64,
    /// Side of the convolution kernel in pixels.
    pub kernel: u64,
    /// Rows and columns of zeros on each side of an image.
    pub padding: u64,
    /// Pixels from one application of the kernel to the next, in both directions.
    pub stride: u64,
}

impl Layer {
    /// The layer itself if it makes sense.
    ///
    /// # Errors
    /// A size of zero, a kernel larger than the padded image, or tensors of more than 2^34 elements.
    pub fn checked(self) -> Result<Self, OptionError> {
        let sizes = [
            ("batch", self.batch),
            ("channels", self.channels),
            ("output_channels", self.output_channels),
            ("kernel", self.kernel),
            ("stride", self.stride),
        ];
        if let Some((key, _)) = sizes.iter().find(|(_, size)| *size == 0) {
            return Err(OptionError::new(key, "expected at least 1, found 0"));
        }
        let sides = [self.side, self.kernel, self.padding, self.stride];
        if sides.iter().any(|&side| side >= 1 << 20) {
            return Err(OptionError::new("side", "expected images and kernels of less than a million pixels a side"));
        }
        if self.side + 2 * self.padding < self.kernel {
            let found = format!("found {} with {} of padding", self.side, self.padding);
            return Err(OptionError::new(
                "side",
                format!("expected at least the kernel's {} pixels, {found}", self.kernel),
            ));
        }
        if self.largest_tensor().is_none_or(|elements| elements > LARGEST_TENSOR) {
            return Err(OptionError::new("side", "expected tensors of at most 2^34 elements"));
        }
        Ok(self)
    }

    /// Side of an output image in pixels.
    #[must_use]
    pub fn output_side(&self) -> u64 {
        (self.side + 2 * self.padding - self.kernel) / self.stride + 1
    }

    /// Pixels of all output images of one channel: the columns of the im2col matrix.
    #[must_use]
    pub fn output_pixels(&self) -> u64 {
        self.batch * self.output_side() * self.output_side()
    }

    /// Elements under the kernel in all channels: the rows of the im2col matrix.
    #[must_use]
    pub fn field(&self) -> u64 {
        self.channels * self.kernel * self.kernel
    }

    /// Elements of the input.
    #[must_use]
    pub fn input_elements(&self) -> u64 {
        self.batch * self.channels * self.side * self.side
    }

    /// Elements of the output.
    #[must_use]
    pub fn output_elements(&self) -> u64 {
        self.output_channels * self.output_pixels()
    }

    /// Weights, biases not counted.
    #[must_use]
    pub fn weights(&self) -> u64 {
        self.output_channels * self.field()
    }

    /// Bytes of the large buffers: input and its clone, im2col matrix, four outputs' worth of tensors and twelve of
    /// index buffers.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let elements = 2 * self.input_elements() + self.field() * self.output_pixels() + 16 * self.output_elements();
        elements * ELEMENT_BYTES
    }

    /// The same layer on the largest images with which it needs at most `bytes`.
    ///
    /// # Errors
    /// Blames `scale`, which `bytes` come from, when the smallest image needs more or an image as large is impossible.
    pub fn fitting(self, bytes: f64) -> Result<Self, OptionError> {
        let at = |side| Self { side, ..self }.checked();
        let fits = |layer: &Self| layer.bytes() as f64 <= bytes;
        let mut largest = at(self.kernel.saturating_sub(2 * self.padding).max(1))?;
        if !fits(&largest) {
            return Err(OptionError::new("scale", "so small that nothing is left of the layer"));
        }
        for step in (0..20).rev().map(|power| 1 << power) {
            largest = at(largest.side + step).ok().filter(fits).unwrap_or(largest);
        }
        match at(largest.side + 1) {
            Ok(_) => Ok(largest),
            Err(_) => Err(OptionError::new("scale", "so large that the layer cannot be addressed")),
        }
    }

    fn largest_tensor(&self) -> Option<u64> {
        let pixels = self.batch.checked_mul(self.output_side() * self.output_side())?;
        let input = self.batch.checked_mul(self.channels)?.checked_mul(self.side * self.side)?;
        let columns = self.channels.checked_mul(self.kernel * self.kernel)?.checked_mul(pixels)?;
        let weights = self.channels.checked_mul(self.kernel * self.kernel)?.checked_mul(self.output_channels)?;
        // The index buffers hold four elements for each of the output's.
        let index = self.output_channels.checked_mul(pixels)?.checked_mul(4)?;
        Some(input.max(columns).max(weights).max(index))
    }
}
