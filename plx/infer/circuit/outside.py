"""A circuit from a compiler that takes clauses."""

from __future__ import annotations

import math
from contextlib import suppress

import numpy as np

from plx import deadline
from plx.deadline import OutOfTimeError
from plx.infer.circuit.clauses import Clauses, clauses_of
from plx.infer.circuit.compiler_process import compiled_apart
from plx.infer.circuit.limits import BRANCHINGS, COMPILER_SHARE, EDGES, FIRST_BRANCHING, MENTIONS
from plx.infer.exact_plan import GaveUpError
from plx.infer.kernels.circuit import Circuit
from plx.infer.kernels.dnnf import TOO_LARGE, Dnnf, Meaning, smooth_circuit
from plx.infer.kernels.propagation import Factors
from plx.infer.kernels.residuals import Residuals


def compiled_outside(factors: Factors, pool: Residuals) -> tuple[int, Circuit]:
    """The root (NOTHING where there is no world) and the circuit.

    Raises GaveUpError where it gets too large or its share of the time is over, and OutOfTimeError at the
    deadline.
    """
    clauses = clauses_of(factors, pool)
    left = deadline.seconds_left()
    try:
        with deadline.within(None if math.isinf(left) else COMPILER_SHARE * left):
            found = _compiled(clauses)
    except OutOfTimeError:
        deadline.check()
        raise GaveUpError(f"d4 had not ended after {COMPILER_SHARE * left:.0f} s") from None
    return smoothed(found, clauses, factors)


def _compiled(clauses: Clauses) -> Dnnf:
    """By the first way to choose what to decide that ends in its time."""
    for branching in BRANCHINGS[:-1]:
        left = deadline.seconds_left()
        with (
            suppress(OutOfTimeError, GaveUpError),
            deadline.within(FIRST_BRANCHING if math.isinf(left) else left / 2),
        ):
            return compiled_apart(clauses.propositions, clauses.clauses, branching)
    return compiled_apart(clauses.propositions, clauses.clauses, BRANCHINGS[-1])


def smoothed(dnnf: Dnnf, clauses: Clauses, factors: Factors) -> tuple[int, Circuit]:
    """The circuit of a d-DNNF of these clauses. Raises GaveUpError where it gets too large."""
    meaning = meaning_of(clauses, factors)
    if len(dnnf.kind) * float(len(meaning.proposition)) > MENTIONS:
        raise GaveUpError(f"it is not known of {len(dnnf.kind):,} circuit nodes which unknowns each is about")
    deadline.check()
    kernel = smooth_circuit.sized(float(len(dnnf.child) * (1 + len(meaning.proposition) // 64)))
    circuit, root = kernel(dnnf, meaning, int(factors.state_at[-1]), EDGES)
    if root == TOO_LARGE:
        raise GaveUpError(f"the circuit has more than {EDGES:,} edges")
    return root, circuit


def meaning_of(clauses: Clauses, factors: Factors) -> Meaning:
    """What the literals of clauses say of the nodes of factors."""
    proposition = np.flatnonzero(clauses.node >= 0)
    pair = np.full(len(clauses.node), -1, dtype=np.int64)
    pair[proposition] = np.arange(len(proposition))
    certain = factors.state_at[:-1][factors.card == 1]
    return Meaning(clauses.state, clauses.log, pair, proposition, certain)
