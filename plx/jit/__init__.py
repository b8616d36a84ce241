"""Kernels: plain functions over arrays, compiled on first use and kept on disk."""

from plx.jit.kernel import Kernel, kernel

__all__ = ["Kernel", "kernel"]
