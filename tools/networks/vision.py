"""Networks of image classification, after their publications: 1000 classes, images of 224 by 224."""

from __future__ import annotations

import torch
from torch import nn

_VGG16 = (64, 64, "M", 128, 128, "M", 256, 256, 256, "M", 512, 512, 512, "M", 512, 512, 512, "M")


def vgg16() -> nn.Module:
    """Configuration D (arXiv 1409.1556, table 1)."""
    layers: list[nn.Module] = []
    channels = 3
    for entry in _VGG16:
        if entry == "M":
            layers.append(nn.MaxPool2d(2, 2))
        else:
            layers += [nn.Conv2d(channels, entry, 3, padding=1), nn.ReLU(inplace=True)]
            channels = entry
    classifier = [nn.Flatten(), nn.Linear(512 * 7 * 7, 4096), nn.ReLU(inplace=True), nn.Dropout()]
    classifier += [nn.Linear(4096, 4096), nn.ReLU(inplace=True), nn.Dropout(), nn.Linear(4096, 1000)]
    return nn.Sequential(*layers, *classifier)


def _convolution(inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1) -> list[nn.Module]:
    convolution = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)
    return [convolution, nn.BatchNorm2d(outputs)]


class Residual(nn.Module):
    """A block that adds its input to its result."""

    def __init__(self, inputs: int, width: int, stride: int, *, bottleneck: bool) -> None:
        super().__init__()
        outputs = width * 4 if bottleneck else width
        relu = nn.ReLU(inplace=True)
        if bottleneck:
            # The stride is in the middle, as all implementations of today have it.
            parts = [*_convolution(inputs, width, 1), relu, *_convolution(width, width, 3, stride), relu]
            parts += _convolution(width, outputs, 1)
        else:
            parts = [*_convolution(inputs, width, 3, stride), relu, *_convolution(width, width, 3)]
        self.path = nn.Sequential(*parts)
        same = stride == 1 and inputs == outputs
        self.around = nn.Identity() if same else nn.Sequential(*_convolution(inputs, outputs, 1, stride))
        self.relu = relu

    def forward(self, data: torch.Tensor) -> torch.Tensor:
        """Both ways, added."""
        out = self.path(data)
        out += self.around(data)
        return self.relu(out)


def _resnet(blocks: tuple[int, ...], *, bottleneck: bool) -> nn.Module:
    """Table 1 of arXiv 1512.03385."""
    layers: list[nn.Module] = [*_convolution(3, 64, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for stage, count in enumerate(blocks):
        width = 64 << stage
        for block in range(count):
            layers.append(Residual(inputs, width, 2 if stage and not block else 1, bottleneck=bottleneck))
            inputs = width * 4 if bottleneck else width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 1000))


def resnet18() -> nn.Module:
    """18 layers."""
    return _resnet((2, 2, 2, 2), bottleneck=False)


def resnet50() -> nn.Module:
    """50 layers."""
    return _resnet((3, 4, 6, 3), bottleneck=True)


def resnet101() -> nn.Module:
    """101 layers."""
    return _resnet((3, 4, 23, 3), bottleneck=True)


class Squeeze(nn.Module):
    """Channels scaled by what their means say."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        inner = _by_eight(channels / 4)
        self.scale = nn.Sequential(
            nn.AdaptiveAvgPool2d(1),
            nn.Conv2d(channels, inner, 1),
            nn.ReLU(inplace=True),
            nn.Conv2d(inner, channels, 1),
            nn.Hardsigmoid(inplace=True),
        )

    def forward(self, data: torch.Tensor) -> torch.Tensor:
        """Every channel times its scale."""
        return data * self.scale(data)


def _by_eight(channels: float) -> int:
    """The nearest multiple of 8."""
    return max(8, int(channels + 4) // 8 * 8)


class Inverted(nn.Module):
    """A wide middle between narrow ends."""

    def __init__(
        self, inputs: int, kernel: int, wide: int, outputs: int, squeeze: bool, hard: bool, stride: int
    ) -> None:
        super().__init__()
        relu = nn.Hardswish(inplace=True) if hard else nn.ReLU(inplace=True)
        parts = [*_convolution(inputs, wide, 1), relu] if wide != inputs else []
        parts += [*_convolution(wide, wide, kernel, stride, groups=wide), relu]
        parts += [Squeeze(wide)] if squeeze else []
        self.path = nn.Sequential(*parts, *_convolution(wide, outputs, 1))
        self.adds = stride == 1 and inputs == outputs

    def forward(self, data: torch.Tensor) -> torch.Tensor:
        """The path, with its input added where sizes are equal."""
        out = self.path(data)
        return out + data if self.adds else out


_MOBILENET = (
    (3, 16, 16, False, False, 1),
    (3, 64, 24, False, False, 2),
    (3, 72, 24, False, False, 1),
    (5, 72, 40, True, False, 2),
    (5, 120, 40, True, False, 1),
    (5, 120, 40, True, False, 1),
    (3, 240, 80, False, True, 2),
    (3, 200, 80, False, True, 1),
    (3, 184, 80, False, True, 1),
    (3, 184, 80, False, True, 1),
    (3, 480, 112, True, True, 1),
    (3, 672, 112, True, True, 1),
    (5, 672, 160, True, True, 2),
    (5, 960, 160, True, True, 1),
    (5, 960, 160, True, True, 1),
)
"""Kernel, width, outputs, squeeze, hard swish, stride (arXiv 1905.02244, table 1)."""


def mobilenet_v3_large() -> nn.Module:
    """MobileNetV3-large."""
    layers: list[nn.Module] = [*_convolution(3, 16, 3, 2), nn.Hardswish(inplace=True)]
    inputs = 16
    for kernel, wide, outputs, squeeze, hard, stride in _MOBILENET:
        layers.append(Inverted(inputs, kernel, wide, outputs, squeeze, hard, stride))
        inputs = outputs
    layers += [*_convolution(inputs, 960, 1), nn.Hardswish(inplace=True), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return nn.Sequential(
        *layers, nn.Linear(960, 1280), nn.Hardswish(inplace=True), nn.Dropout(0.2), nn.Linear(1280, 1000)
    )
