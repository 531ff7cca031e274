"""Records a step of a PyTorch program, within the Python that has PyTorch: it imports nothing else."""
