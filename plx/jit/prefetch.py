"""Asking for memory before it is read."""

from __future__ import annotations

from typing import Any


def prefetch(rows: Any, row: Any) -> None:
    """Ask the processor for the first line of ``rows[row]``, an array of two dimensions in C order.

    Nothing is read, so no answer changes, and nothing happens where nothing is compiled. It is of use where
    rows lie apart in more memory than the caches have, and it is known early which are read.
    """


def compiled_prefetch() -> Any:
    """What `prefetch` is to compiled code."""
    from llvmlite import ir  # type: ignore[import-untyped]
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    @intrinsic
    def prefetch(context, rows, row):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, given):  # type: ignore[no-untyped-def]
            array = context.make_array(signature.args[0])(context, builder, given[0])
            place = context.cast(builder, given[1], signature.args[1], types.intp)
            stride = builder.extract_value(array.strides, 0)
            start = builder.bitcast(array.data, cgutils.voidptr_t)
            line = builder.gep(start, [builder.mul(place, stride)])
            word = ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, word, word, word])
            function = builder.module.declare_intrinsic("llvm.prefetch", [cgutils.voidptr_t], kind)
            builder.call(function, [line, word(0), word(3), word(1)])  # to read, into all caches, of data
            return context.get_dummy_value()

        return types.void(rows, row), generate

    return prefetch


prefetch.native = compiled_prefetch  # type: ignore[attr-defined]
