"""d4 in a process of its own, with limits of time and memory: clauses to a d-DNNF.

The only door to py_d4 (Lagniez & Marquis, An improved decision-DNNF compiler, IJCAI 2017). Run as a program,
it reads propositions, clauses, a way to branch and a limit of memory from its input and writes a `Dnnf`.
"""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np

from plx.graph.ragged import starts
from plx.infer.circuit.limited_process import answer_apart, serve
from plx.infer.circuit.limits import BRANCHINGS, COMPILER_MEMORY, COMPILER_PAGE
from plx.infer.kernels.dnnf import AND, FALSE, OR, TRUE, Dnnf
from plx.values import IntArray


def installed() -> bool:
    """Whether the extra ``plx[circuits]`` is there."""
    return importlib.util.find_spec("py_d4") is not None


def compiled_apart(propositions: int, clauses: list[list[int]], branching: str = BRANCHINGS[0]) -> Dnnf:
    """The d-DNNF of clauses, by a way to choose what to decide.

    Raises GaveUpError where the compiler is killed or out of memory, and OutOfTimeError at the deadline.
    """
    sent = propositions, clauses, branching
    return Dnnf(*answer_apart(__name__, "d4", COMPILER_MEMORY, sent))


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


def _answer(py_d4: Any, sent: tuple[int, list[list[int]], str]) -> tuple[IntArray, ...]:
    return tuple(read_dnnf(_compiled(py_d4, *sent)))


def _compiled(py_d4: Any, propositions: int, clauses: list[list[int]], branching: str) -> str:
    """What d4 writes."""
    options = py_d4.dump_options_to_dict(py_d4.OptionDpllStyleMethod())
    options["branching"]["branchingHeuristicType"] = branching
    options["cache"]["bucket"].update(sizeFirstPage=str(COMPILER_PAGE), sizeAdditionalPage=str(COMPILER_PAGE))
    solver = py_d4.Solver(clauses, propositions, py_d4.load_options_from_dict(options))
    text: str = solver.compile().getNNFString()
    return text


if __name__ == "__main__":
    serve("py_d4", _answer)
