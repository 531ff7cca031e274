"""Steps of PyTorch programs: what memory they need on a GPU, and what to do where there is less."""
