"""d4 in a process of its own, with limits of time and memory: clauses to a d-DNNF.

The only door to py_d4 (Lagniez & Marquis, An improved decision-DNNF compiler, IJCAI 2017). Run as a program,
it reads propositions, clauses, a way to branch and a limit of memory from its input and writes a `Dnnf`.
"""

from __future__ import annotations

import importlib.util
import os
import pickle
import sys
from importlib import import_module
from typing import Any

import numpy as np

from plx import deadline
from plx.graph.ragged import starts
from plx.infer.circuit.limits import BRANCHINGS, COMPILER_MEMORY, COMPILER_PAGE
from plx.infer.exact_plan import GaveUpError
from plx.infer.kernels.dnnf import AND, FALSE, OR, TRUE, Dnnf
from plx.infer.own_process import apart
from plx.values import IntArray

_NO_MEMORY = 3
"""The exit status of a process whose memory is over."""


def installed() -> bool:
    """Whether the extra ``plx[circuits]`` is there."""
    return importlib.util.find_spec("py_d4") is not None


def compiled_apart(propositions: int, clauses: list[list[int]], branching: str = BRANCHINGS[0]) -> Dnnf:
    """The d-DNNF of clauses, by a way to choose what to decide.

    Raises GaveUpError where the compiler is killed or out of memory, and OutOfTimeError at the deadline.
    """
    deadline.check()
    ended = apart(__name__, pickle.dumps((propositions, clauses, branching, COMPILER_MEMORY)))
    if ended.status is None:
        raise deadline.OutOfTimeError
    if ended.status == _NO_MEMORY:
        raise GaveUpError(f"d4 took more than {COMPILER_MEMORY:,} bytes of memory")
    if ended.status < 0:
        raise GaveUpError(f"d4 was killed (signal {-ended.status})")
    if ended.status:
        raise GaveUpError(f"d4 failed (exit status {ended.status})")
    return Dnnf(*pickle.loads(ended.output))


def read_dnnf(text: str) -> Dnnf:
    """The d-DNNF that d4 has written: `o 3 0` is a node, `3 4 -7 9 0` its edge to 4 with two literals.

    Raises ValueError if children do not come before what they are children of.
    """
    words = np.array(text.translate(_CODES).split(), dtype=np.int64)
    ends = np.flatnonzero(words == 0)
    begins = np.concatenate([[0], ends[:-1] + 1])
    is_node = words[begins] < 0
    kind = np.zeros(int(is_node.sum()) + 1, dtype=np.int64)
    kind[words[begins[is_node] + 1]] = words[begins[is_node]]
    begins, ends = begins[~is_node], ends[~is_node]
    source, child = words[begins], words[begins + 1]
    place, order = _children_first(source, len(kind) - 1)
    if (place[child] >= place[source]).any() or order[-1] != 1:
        raise ValueError("a node comes before its child")
    by_place = np.argsort(place[source], kind="stable")
    sizes = (ends - begins - 2)[by_place]
    literal_start = starts(sizes)
    literal = words[
        np.repeat(begins[by_place] + 2 - literal_start[:-1], sizes) + np.arange(literal_start[-1])
    ]
    counts = np.bincount(place[source], minlength=len(order))
    return Dnnf(kind[order], starts(counts), place[child[by_place]], literal_start, literal)


_CODES = str.maketrans({"a": str(AND), "o": str(OR), "t": str(TRUE), "f": str(FALSE)})


def _children_first(source: IntArray, n: int) -> tuple[IntArray, IntArray]:
    """The place of every node 1..n, shape (n + 1,), and the nodes by place: those without edges, then the
    others as their edges end."""
    last = np.full(n + 1, -1, dtype=np.int64)
    last[source] = np.arange(len(source))  # the last of equal indices stays
    order = np.argsort(last[1:], kind="stable") + 1
    place = np.zeros(n + 1, dtype=np.int64)
    place[order] = np.arange(n)
    return place, order


def _main() -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # the compiler prints
    compiler = import_module("py_d4")  # before memory is limited
    propositions, clauses, branching, memory = pickle.loads(sys.stdin.buffer.read())
    try:
        _limit_memory(memory)
        with answers:
            answers.write(
                pickle.dumps(tuple(read_dnnf(_compiled(compiler, propositions, clauses, branching))))
            )
    except MemoryError:
        os._exit(_NO_MEMORY)


def _limit_memory(memory: int) -> None:
    try:
        import resource
    except ImportError:  # there are no limits for one process
        return
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def _compiled(py_d4: Any, propositions: int, clauses: list[list[int]], branching: str) -> str:
    """What d4 writes."""
    options = py_d4.dump_options_to_dict(py_d4.OptionDpllStyleMethod())
    options["branching"]["branchingHeuristicType"] = branching
    options["cache"]["bucket"].update(sizeFirstPage=str(COMPILER_PAGE), sizeAdditionalPage=str(COMPILER_PAGE))
    solver = py_d4.Solver(clauses, propositions, py_d4.load_options_from_dict(options))
    text: str = solver.compile().getNNFString()
    return text


if __name__ == "__main__":
    _main()
