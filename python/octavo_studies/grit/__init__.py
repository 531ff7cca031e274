"""GRIT (HPCA 2024): fine-grained dynamic page placement."""
