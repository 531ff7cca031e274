"""A real GPU's memory system, measured once: probes, samples, fits and the machine file.

`measured` is what a fit gives. Everything else is made from samples alone, and needs no GPU.
"""
