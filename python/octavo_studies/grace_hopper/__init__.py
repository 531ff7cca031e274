"""Integrated CPU-GPU memory on Grace Hopper (ICPP 2024): system, managed and explicit memory under six programs."""
