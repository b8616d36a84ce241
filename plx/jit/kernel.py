"""What a kernel is to its callers. Nothing is compiled, nor numba imported, before a kernel is called."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache, cached_property, partial, wraps
from importlib.util import find_spec
from threading import Lock
from typing import Any, Generic, ParamSpec, TypeVar, overload

import numpy as np
import numpy.typing as npt

Counter = npt.NDArray[np.int64]
P = ParamSpec("P")
R = TypeVar("R")

PLAIN_STEPS = 1e6
"""A process runs so many steps of kernels uncompiled: that takes half as long as numba takes to start."""

_LOCK = Lock()

_NOT_COMPILED = (
    "numba is not installed, so nothing is compiled: answers are the same, but large programs and sampling"
    " take some hundred times longer"
)


@cache
def compiles() -> bool:
    """Whether numba is there; where it is not, warns once of what that costs."""
    if find_spec("numba") is not None:
        return True
    warnings.warn(_NOT_COMPILED, RuntimeWarning, stacklevel=3)
    return False


class Kernel(Generic[P, R]):
    """A function and what it compiles to. Both give the identical result.

    The functions that it calls are plain functions too, in its module or others; whatever is global is
    constant. Types are those of the annotations (see `plx.jit.types`), or those of a ``signature``: a
    list of annotations, one for each argument of a function without a result. Where numba is absent, as in a
    browser, nothing is compiled.
    """

    steps_left = PLAIN_STEPS
    """Of all kernels of the process."""

    def __init__(self, function: Callable[P, R], signature: object = None) -> None:
        self.function = function
        self.signature = signature
        wraps(function)(self)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.compiled(*args, **kwargs)

    @cached_property
    def compiled(self) -> Callable[P, R]:
        """The compiled function: taken from disk if it is there."""
        if not compiles():
            return self._plain
        with _LOCK:
            from plx.jit.compile import compiled

            made: Callable[P, R] = compiled(self.function, self.signature)
        Kernel.steps_left = min(Kernel.steps_left, PLAIN_STEPS / 10)  # numba has started now
        return made

    def sized(self, steps: float, calls: int = 1) -> Callable[P, R]:
        """What to call for work of about so many steps of the innermost loops, ``calls`` times in all.

        Compiling takes seconds, and even to load what is compiled takes a large part of one, so small
        work is done without, as long as the process has little of it.
        """
        if "compiled" in vars(self) or steps * calls > Kernel.steps_left:
            return self.compiled
        Kernel.steps_left -= steps
        return self._plain

    def counted(self, steps_left: Counter, calls: int, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call a kernel that counts its steps: uncompiled first, and compiled if so many ``calls`` would take
        too many.

        ``steps_left`` [1], one of its arguments, is how many it may take at most. The kernel counts it down
        and returns once it is below 0.
        """
        if "compiled" not in vars(self):
            most, own = int(steps_left[0]), int(Kernel.steps_left / calls)
            steps_left[0] = min(most, own)
            found = self._plain(*args, **kwargs)
            Kernel.steps_left -= min(most, own) - int(steps_left[0])
            if steps_left[0] >= 0 or most <= own:
                return found
            steps_left[0] = most
        return self.compiled(*args, **kwargs)

    def _plain(self, *args: P.args, **kwargs: P.kwargs) -> R:
        with np.errstate(all="ignore"):  # compiled code does not warn
            return self.function(*args, **kwargs)


@overload
def inner(function: Callable[P, R]) -> Callable[P, R]: ...


@overload
def inner(*, inline: bool) -> Callable[[Callable[P, R]], Callable[P, R]]: ...


def inner(function: Any = None, *, inline: bool = False) -> Any:
    """Mark a function that kernels call: it is compiled with each, for the types that it meets there.

    ``inline``: set into its callers, so that arrays which it only passes on cost nothing.
    """
    if function is None:
        return partial(inner, inline=inline)
    function.inner_options = {"forceinline": True} if inline else {}
    return function


def kernel(function: Callable[P, R]) -> Kernel[P, R]:
    """Make a function a kernel of the types that its annotations name."""
    return Kernel(function)
