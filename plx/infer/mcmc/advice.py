"""Why answers have not converged, and what helps: by cause, naming unknowns and rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from plx.graph.barren import factor_of
from plx.graph.model import FactorGraph, GroundModel, GroundQuery, GroundRule
from plx.graph.rows import BoolArray
from plx.graph.worlds import input_owner
from plx.infer.inference import Answer, measured
from plx.infer.mcmc.run import Sampled
from plx.infer.options import Options
from plx.values import FloatArray, IntArray, distinct

_NAMED = 3
"""So many unknowns are named."""

_LISTED = 64
"""Among so many names those that come twice are counted once."""


def advice(
    model: GroundModel, found: Sampled, answers: Sequence[Answer], method: str, options: Options
) -> tuple[str, ...]:
    """What keeps answers from converging; nothing if all have."""
    doubtful = measured(answers, "converged") == 0
    if not doubtful.any():
        return ()
    return tuple(_causes(model, found, answers, doubtful, method, options))


def _causes(
    model: GroundModel,
    found: Sampled,
    answers: Sequence[Answer],
    doubtful: BoolArray,
    method: str,
    options: Options,
) -> Iterator[str]:
    if found.movement is not None and len(found.movement.apart):
        yield _kept_apart(model, found.movement.apart, method)
        return
    if found.missed:
        ways = "" if method == "tempered" else "--method tempered, or "
        yield f"the most probable world is out of reach of the chains: try {ways}an exact way"
        return
    rhat, ess = measured(answers, "rhat"), measured(answers, "ess")
    worst = float(np.where(np.isnan(rhat), 1.0, rhat)[doubtful].max(initial=1.0))
    if (np.isnan(rhat) & ~np.isnan(ess)).any():
        yield "too few samples to compare the chains: give the run more --seconds or --samples"
    elif worst >= options.rhat:
        n = len(model.queries)  # log Z comes after
        about = _disagree(model.queries, rhat[:n], options.rhat) or "log Z"
        yield (
            f"the chains do not agree yet (R-hat {worst:.3f}), most about {about}:"
            " give the run more --seconds or --samples"
        )
    else:
        yield "too few samples for the accuracy: more --seconds or --samples, or a larger --accuracy"


def _disagree(queries: Sequence[GroundQuery], rhat: FloatArray, limit: float) -> str:
    """What chains disagree about, worst first."""
    far = np.flatnonzero(rhat >= limit)
    worst = far[np.argsort(-rhat[far], kind="stable")][:_LISTED]
    names = list(dict.fromkeys(queries[i].name for i in worst.tolist()))
    return _listed(names, len(names) + len(far) - len(worst))


def _listed(names: Sequence[str], count: int) -> str:
    more = f" and {count - _NAMED:,} more" if count > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _kept_apart(model: GroundModel, apart: IntArray, method: str) -> str:
    """Which unknowns keep chains apart, and the rule that holds them most."""
    names = _listed(
        [model.atoms.name(int(model.atoms.atom_of[v])) for v in apart[:_NAMED].tolist()], len(apart)
    )
    said = f"chains are stuck apart, so more time hardly helps: {names} differ between them"
    rule, hard = _holding(model, apart)
    if rule is None:
        return said
    line = f" (line {rule.span.line})" if rule.span else ""
    said += f", held by `{rule.text}`{line}"
    other = ("lifted" if method == "mcsat" else "mcsat") if hard else "tempered"
    first = "" if method == other else f"try --method {other}, or "
    return said + (f", a hard rule: {first}make it a weight" if hard else f": {first}lower its weight")


def _holding(model: GroundModel, apart: IntArray) -> tuple[GroundRule | None, bool]:
    """The rule of the strongest factors about these unknowns, and whether it is hard."""
    graph = model.graph
    factors = _about(graph, apart)
    if not len(factors):
        return None, False
    strength = strengths(graph)[graph.table_of[factors]]
    strongest = factors[strength >= strength.max() * (1 - 1e-9)]
    rule = Counter(graph.rule_of[strongest].tolist()).most_common(1)[0][0]
    return model.rules[rule], bool(np.isinf(strength.max()))


def _about(graph: FactorGraph, variables: IntArray) -> IntArray:
    """The factors that depend on some of these variables."""
    seen: BoolArray = np.zeros(graph.n_nodes, dtype=bool)
    seen[variables] = True
    owner = input_owner(graph) + graph.n_variables
    while not seen[reached := owner[seen[graph.input_node]]].all():
        seen[reached] = True
    return distinct(factor_of(graph, np.flatnonzero(seen[graph.scope])))


def strengths(graph: FactorGraph) -> FloatArray:
    """By how much the entries of each table differ; infinitely where some are impossible."""
    first = graph.table_start[:-1]
    strength: FloatArray = np.maximum.reduceat(graph.table, first) - np.minimum.reduceat(graph.table, first)
    return strength
