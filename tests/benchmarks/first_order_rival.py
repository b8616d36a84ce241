"""The programs of `tests.benchmarks.first_order` as FastWFOMC reads them, and the CPU seconds it takes."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence

_GRAPH = r"""\forall X: (~E(X,X)) &
\forall X: (\forall Y: (E(X,Y) -> E(Y,X))) &
"""

_ONE = r"\forall X: (\exists_{=1} Y: (P(X,Y)))"
_BACK = r" & \forall X: (\exists_{=1} Y: (P(Y,X)))"

_COLOURED = r"""\forall X: (\forall Y: ((E(X,Y) -> E(Y,X)) & (R(X) | G(X) | B(X) | Y(X)) &
 (~R(X) | ~G(X)) & (~R(X) | ~B(X)) & (~R(X) | ~Y(X)) & (~G(X) | ~B(X)) & (~G(X) | ~Y(X)) & (~B(X) | ~Y(X)) &
 (E(X,Y) -> ~(R(X) & R(Y)) & ~(G(X) & G(Y)) & ~(B(X) & B(Y)) & ~(Y(X) & Y(Y)))))"""

_ORDER = r"""\forall X: (~H(X) | ~T(X)) &
\forall X: (\forall Y: (((H(Y) & LEQ(X, Y)) -> H(X)) & ((T(X) & LEQ(X, Y)) -> T(Y))))"""

PROGRAMS: dict[str, tuple[str, str]] = {
    "4-coloured graphs": ("fastv2", _COLOURED),
    "no isolated vertex": ("fastv2", _GRAPH + r"\forall X: (\exists Y: (E(X,Y)))"),
    "even degrees": ("incremental3", _GRAPH + r"\forall X: (\exists_{0mod2} Y: (E(X,Y)))"),
    "3-regular graphs": ("incremental3", _GRAPH + r"\forall X: (\exists_{=3} Y: (E(X,Y)))"),
    "4-regular graphs": ("incremental3", _GRAPH + r"\forall X: (\exists_{=4} Y: (E(X,Y)))"),
    "functions": ("incremental3", _ONE),
    "permutations": ("incremental3", _ONE + _BACK),
    "derangements": ("incremental3", r"\forall X: (~P(X,X)) & " + _ONE + _BACK),
    "heads, middle and tails in order": ("incremental", _ORDER),
}
"""The quickest of its algorithms that takes a program, and its sentence."""

_DRIVER = r"""
import json, math, sys, tempfile, time
from wfomc.algo import Algo
from wfomc.parser import parse_input
from wfomc.solver import wfomc

algo, text = json.loads(sys.stdin.read())
begin = time.process_time()
with tempfile.NamedTemporaryFile("w", suffix=".wfomcs") as file:
    file.write(text)
    file.flush()
    found = wfomc(parse_input(file.name), Algo(algo))
seconds = time.process_time() - begin
found = found.real if hasattr(found, "real") and not hasattr(found, "numerator") else found
n, d = (int(part) for part in (found.numerator, found.denominator)) if hasattr(found, "numerator") \
    else (int(found.p), int(found.q))
print(json.dumps([seconds, math.log(n) - math.log(d)]))
"""

LONGEST = 60.0
"""Seconds after which a program of the peer is given up."""

MOST = 200
"""Members of the largest program that it is given."""


def python_with(rivals: Sequence[str]) -> str | None:
    """The first of some Pythons that has FastWFOMC."""
    for python in rivals:
        run = subprocess.run([python, "-c", "import wfomc.solver"], capture_output=True, check=False)
        if not run.returncode:
            return python
    return None


def seconds_of(python: str, name: str, members: int) -> tuple[float, float] | None:
    """CPU seconds without its start, and log Z; None where it cannot say the program, or takes too long."""
    if name not in PROGRAMS or members > MOST:
        return None
    algo, text = PROGRAMS[name]
    asked = json.dumps([algo, f"{text}\n\ndomain = {members}\n"])
    try:
        run = subprocess.run(
            [python, "-c", _DRIVER], input=asked, capture_output=True, text=True, timeout=LONGEST, check=False
        )
    except subprocess.TimeoutExpired:
        return None
    if run.returncode:
        raise RuntimeError(f"FastWFOMC fails on {name}: {run.stderr[-500:]}")
    seconds, log_z = json.loads(run.stdout.splitlines()[-1])
    return seconds, log_z
