"""Kernels: plain functions over arrays, compiled on first use and kept on disk."""

from plx.jit.hints import array
from plx.jit.kernel import Kernel, inner, kernel

__all__ = ["Kernel", "array", "inner", "kernel"]
