"""CUDA programs rewritten to allocate each buffer where Octavo's runtime says: source to source, on libclang."""

from octavo.transform.result import Skipped, Transformed
from octavo.transform.transform import include_folder, transform

__all__ = ["Skipped", "Transformed", "include_folder", "transform"]
