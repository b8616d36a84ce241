"""Short runs of samplers that ask about all unknowns, and how those of each family and rule fared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from plx.deadline import OutOfTimeError, within
from plx.errors import PlxError
from plx.graph.model import GroundModel, GroundQuery, Target
from plx.graph.ragged import owners
from plx.graph.rows import BoolArray
from plx.graph.subgraph import below
from plx.infer.exact_choice import ExactWays
from plx.infer.exact_plan import ExactPlan
from plx.infer.hard.distant import without_distant
from plx.infer.limits import FEWEST
from plx.infer.mcmc.advice import strengths
from plx.infer.mcmc.pilot import with_more_moves
from plx.infer.mcmc.run import sample
from plx.infer.mcmc.samplers import SAMPLERS
from plx.infer.mixing.remedies import remedies
from plx.infer.mixing.report import Mixing, Part, Trial
from plx.infer.options import Clock, Options
from plx.infer.problem import Problem
from plx.values import FloatArray, IntArray

_ASKED = 2048
"""So many unknowns are asked about, spread evenly over those of each family."""

_RULES = 200
"""So many rules are looked at, those of the most instances first."""

_PLANNING = 0.1
"""The share of the time in which an exact way is looked for."""

RIVALS = ("lifted", "gibbs", "tempered", "mcsat")
"""Methods that are tried beside the one asked for; so are `cluster` and `trees` where they apply."""

_FINE = 1e-9
"""An accuracy that no short run reaches, so that each takes its time."""


@dataclass(frozen=True)
class _Found:
    """How the unknowns ``variables`` [n] fared."""

    variables: IntArray
    rhat: FloatArray  # [n]
    speed: FloatArray  # [n] effective samples per second
    apart: BoolArray  # [n]
    seconds: float
    missed: bool

    def part(self, model: GroundModel, name: str, line: int | None, among: BoolArray) -> Part | None:
        """How those fared that are ``among`` [V], None: there are none."""
        mine = np.flatnonzero(among[self.variables])
        if not len(mine):
            return None
        # The slowest of those that are about as far apart.
        far = mine[self.rhat[mine] >= min(self.rhat[mine].max(), 1 + (self.rhat[mine].max() - 1) * 0.9)]
        worst = far[np.argmin(self.speed[far])]
        return Part(
            name,
            line,
            len(mine),
            float(self.rhat[mine].max()),
            float(self.speed[mine].min()),
            model.atoms.name(int(model.atoms.atom_of[self.variables[worst]])),
            int(self.apart[mine].sum()),
        )


def diagnose(program: str, model: GroundModel, method: str, options: Options) -> Mixing:
    """How each part of a model mixes under a method, and what would help, from a short run of each of some.

    ``options.seconds`` are shared between the methods, ``options.samples`` hold for each. Raises PlxError if
    no world is possible, or if the method cannot begin.
    """
    problem = Problem(replace(without_distant(model), queries=()))
    if not problem.graph.n_variables:
        return Mixing(
            program, method, options.seed, (), (), (), ("no unknown is left: nothing is to be sampled",)
        )
    seconds = options.seconds
    plan = _exact(problem, _PLANNING * (10.0 if seconds is None else seconds))
    variables = _spread(problem.model)
    asked = problem.asking(_asking(problem.model, variables))
    rivals = (*RIVALS, *with_more_moves(problem))
    others = [name for name in rivals if name in SAMPLERS and name != method]
    share = None if seconds is None else seconds / (len(others) + 2)
    base = replace(options, chains=max(options.chains, FEWEST), accuracy=_FINE)
    # Twice the share, as all that is said of parts comes of it.
    found = _run(asked, variables, method, replace(base, seconds=None if share is None else 2 * share))
    trials = (_trial(method, found), *(_tried(asked, variables, name, base, share) for name in others))
    families, rules = (
        _worst_first(_families(problem.model, found)),
        _worst_first(_rules(problem.model, found)),
    )
    help = remedies(families, rules, trials, None if plan is None else plan.reason)
    return Mixing(
        program, method, options.seed, families, rules, trials, help, _notes(problem, variables, model)
    )


def _notes(problem: Problem, variables: IntArray, model: GroundModel) -> tuple[str, ...]:
    notes = []
    if len(variables) < problem.graph.n_variables:
        notes.append(f"{len(variables):,} of {problem.graph.n_variables:,} unknowns were looked at")
    if any(query.given for query in model.queries):
        notes.append("what is `given` in a query was left out: `--observe` it")
    return tuple(notes)


def _exact(problem: Problem, seconds: float) -> ExactPlan | None:
    """An exact way to the answers of the unknowns, if one is found in time."""
    try:
        with within(seconds):
            every = np.arange(problem.graph.n_variables)
            return ExactWays(problem.asking(_asking(problem.model, every))).cheapest()
    except OutOfTimeError:
        return None


def _asking(model: GroundModel, variables: IntArray) -> tuple[GroundQuery, ...]:
    """Queries for these unknowns."""
    atoms = model.atoms
    return tuple(
        GroundQuery("distribution", name, name, (Target(v, atoms.states(v)),), (), None)
        for v, name in ((v, atoms.name(int(atoms.atom_of[v]))) for v in variables.tolist())
    )


def _family_of(model: GroundModel) -> IntArray:
    """The block of atoms of each variable [V]."""
    first = np.array([block.first for block in model.atoms.blocks], dtype=np.int64)
    return np.searchsorted(first, model.atoms.atom_of, side="right") - 1


def _spread(model: GroundModel) -> IntArray:
    """The variables to ask about."""
    family = _family_of(model)
    every = [np.flatnonzero(family == f) for f in np.unique(family)]
    share = max(1, _ASKED // len(every))
    return np.sort(np.concatenate([one[:: -(-len(one) // share)] for one in every]))


def _run(asked: Problem, variables: IntArray, method: str, options: Options) -> _Found:
    """Run a sampler. Raises PlxError and OutOfTimeError as that does."""
    found = sample(asked, SAMPLERS[method], options)
    targets, clock = found.targets, max(found.samples.seconds, 1e-3)
    first, of = targets.offset[:-1], targets.of_query
    rhat = np.maximum.reduceat(found.diagnosis.states.rhat, first)[of]
    ess = np.minimum.reduceat(found.diagnosis.states.ess, first)[of]
    apart = found.movement.apart if found.movement is not None else np.empty(0, dtype=np.int64)
    return _Found(variables, rhat, ess / clock, np.isin(variables, apart), clock, found.missed)


def _trial(method: str, found: _Found) -> Trial:
    return Trial(
        method,
        float(found.rhat.max()),
        float(found.speed.min()),
        int(found.apart.sum()),
        found.seconds,
        missed=found.missed,
    )


def _tried(asked: Problem, variables: IntArray, method: str, options: Options, share: float | None) -> Trial:
    """A trial of another method, or why there was none."""
    clock = Clock()
    try:
        return _trial(method, _run(asked, variables, method, replace(options, seconds=share)))
    except OutOfTimeError:
        return Trial(method, seconds=clock.seconds, why="found no first world in time")
    except PlxError as error:
        return Trial(method, seconds=clock.seconds, why=error.diagnostics[0].message)


def _families(model: GroundModel, found: _Found) -> Iterator[Part]:
    """How the unknowns of each family mix."""
    family = _family_of(model)
    for f in np.unique(family).tolist():
        block = model.atoms.blocks[f]
        part = found.part(model, block.name, None, family == f)
        if part is not None:
            yield part


def _rules(model: GroundModel, found: _Found) -> Iterator[Part]:
    """How the unknowns mix that each rule is about, itself or through what is derived from them."""
    graph = model.graph
    of = owners(graph.scope_start)
    strength = strengths(graph)[graph.table_of]
    chosen = np.argsort(-np.bincount(graph.rule_of, minlength=len(model.rules)), kind="stable")[:_RULES]
    for r in chosen.tolist():
        mine = graph.rule_of == r
        if not mine.any():
            continue
        rule = model.rules[r]
        among = below(graph, np.unique(graph.scope[mine[of]]))[: graph.n_variables]
        line = rule.span.line if rule.span else None
        part = found.part(model, rule.text, line, among)
        if part is not None:
            yield replace(part, strength=float(strength[mine].max()))


def _worst_first(parts: Iterator[Part]) -> tuple[Part, ...]:
    """By what is stuck, R-hat as far as it tells, strength, then speed."""

    def badness(part: Part) -> tuple[float, ...]:
        rhat = round(part.rhat, 1) if part.rhat >= 1.05 else 1.0
        return -min(part.stuck, 1), -rhat, -(part.strength or 0.0), part.ess_per_second

    return tuple(sorted(parts, key=badness))
