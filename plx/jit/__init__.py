"""Kernels: plain functions over arrays, compiled on first use and kept on disk."""

from plx.jit.hints import array
from plx.jit.kernel import Kernel, inner, kernel
from plx.jit.prefetch import prefetch

__all__ = ["Kernel", "array", "inner", "kernel", "prefetch"]
