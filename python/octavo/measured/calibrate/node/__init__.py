"""A simulated node made of measured values."""
