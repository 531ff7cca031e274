"""How many floating-point operations an operator has: products of matrices and convolutions; 0 for all others."""

from __future__ import annotations

from typing import Any


def flops(name: str, args: tuple[Any, ...], out: Any) -> int:
    """Operations of one call, a multiply-add counted as two."""
    count = _OPERATORS.get(name)
    return 0 if count is None else int(count(args, out))


def _product(left: Any, right: Any) -> Any:
    """[…, m, k] times [k, n] or [b, k, n]."""
    return 2 * left.numel() * right.shape[-1]


def _taps(weight: Any) -> Any:
    """Multiply-adds for each output of a convolution."""
    return weight.numel() // weight.shape[0]


def _convolution(args: tuple[Any, ...], out: Any) -> Any:
    transposed = len(args) > 6 and args[6] is True
    return 2 * (args[0] if transposed else out).numel() * _taps(args[1])


def _convolution_backward(args: tuple[Any, ...], _out: Any) -> Any:
    gradient, data, weight = args[:3]
    wanted = sum(bool(one) for one in args[10][:2])
    return wanted * 2 * (data if args[7] else gradient).numel() * _taps(weight)


def _attention(args: tuple[Any, ...], _out: Any) -> Any:
    query, key, value = args[:3]
    return 2 * query.numel() * key.shape[-2] + 2 * query.numel() // query.shape[-1] * key.shape[-2] * value.shape[-1]


def _attention_backward(args: tuple[Any, ...], _out: Any) -> Any:
    """Five products where there were two."""
    return _attention(args[1:], None) * 5 // 2


_OPERATORS = {
    "mm": lambda args, _: _product(args[0], args[1]),
    "bmm": lambda args, _: _product(args[0], args[1]),
    "addmm": lambda args, _: _product(args[1], args[2]),
    "baddbmm": lambda args, _: _product(args[1], args[2]),
    "mv": lambda args, _: 2 * args[0].numel(),
    "linear": lambda args, _: 2 * args[0].numel() * args[1].shape[0],
    "convolution": _convolution,
    "cudnn_convolution": _convolution,
    "convolution_backward": _convolution_backward,
    "_scaled_dot_product_flash_attention": _attention,
    "_scaled_dot_product_efficient_attention": _attention,
    "_scaled_dot_product_flash_attention_for_cpu": _attention,
    "_scaled_dot_product_flash_attention_backward": _attention_backward,
    "_scaled_dot_product_efficient_attention_backward": _attention_backward,
    "_scaled_dot_product_flash_attention_for_cpu_backward": _attention_backward,
}
