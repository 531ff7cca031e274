"""Mosaic (MICRO 2017): several page sizes at once, many applications on one GPU."""
