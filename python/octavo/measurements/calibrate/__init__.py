"""A real GPU's memory system, measured once: probes, samples, fits and the machine file.

`measured` contains the results of fits. Everything else is computed from the samples, and needs no GPU.
"""
