"""A simulated node made from measured values."""
