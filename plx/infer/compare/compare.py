"""Methods side by side: how fast their marginals approach the truth.

The measure is that of Anand, Noothigattu, Singla & Mausam (AISTATS 2017, section 5): the KL divergence
of the estimated marginals from the true ones, averaged over the unknowns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from plx.deadline import within
from plx.errors import Diagnostic, PlxError
from plx.graph.model import GroundModel, GroundQuery, Target
from plx.infer.chains import Chains, InParts
from plx.infer.compare.curves import Comparison, Curve
from plx.infer.compare.protocols import Protocol, sampler_of
from plx.infer.exact_choice import exact_way
from plx.infer.exact_run import run
from plx.infer.hard.distant import without_distant
from plx.infer.mcmc.run import sample, thinning
from plx.infer.mcmc.samplers import SAMPLERS, C, Sampler
from plx.infer.options import Clock, Cluster, Options, Progress, Report, silent
from plx.infer.problem import Problem
from plx.values import FloatArray, IntArray

_FIRST_MARK = 0.01
"""Seconds of the first mark."""

_MARKS_PER_DECADE = 20

_BURN_IN = 0.1
"""The share of the draws so far that an estimate leaves out, from the start."""

_CALL = 0.25
"""Seconds that one call of a sampler's step should take at most."""

_CLOCK = "compiling and loading kernels is not on the clock; finding symmetries is"
_CLUSTER_CLOCK = f"{_CLOCK}, and so is what is sent to workers and back"

_LONG = 10
"""How many times the seconds of a comparison the reference run of ``long`` takes."""


@dataclass(frozen=True)
class ComparePlan:
    """What to run: ``chains`` runs per method, ``seconds`` each; a run pools ``lanes`` states.

    ``protocol`` says what is done between counts: "sweeps", or "paper" for one update of one unknown. The
    lanes are moved by the processes of a ``cluster`` where there is one, one run after the other.
    """

    methods: Sequence[str]
    seconds: float = 10.0
    chains: int = 4
    lanes: int = 64
    seed: int = 0
    protocol: Protocol = "sweeps"
    progress: Report = silent
    cluster: Cluster | None = None


@dataclass(frozen=True)
class Truth:
    """True marginals of the unknowns, end to end, and where they are from."""

    marginals: FloatArray
    origin: str


def compare(
    program: str, model: GroundModel, truth: str | Sequence[FloatArray], plan: ComparePlan
) -> Comparison:
    """Run every method and measure it; the queries of the model are put aside for all marginals.

    ``truth`` is "exact", "long" (a long run of ``lifted``) or one distribution per unknown. Compiling
    and loading kernels is not on the clock; finding symmetries is. Raises PlxError for a method that is
    unknown or does not follow the protocol, a truth of the wrong shape, an exact truth out of reach, or a
    cluster that has lost its workers.
    """
    samplers = [sampler_of(name, plan.protocol) for name in plan.methods]
    asked = Problem(without_distant(with_marginals(model)))
    if not asked.model.queries:
        raise PlxError(Diagnostic("there is nothing to compare methods on: no unknown is left open"))
    found = _truth(asked, truth, plan)
    curves = [
        _curve(asked, name, sampler, found.marginals, plan, done / len(plan.methods))
        for done, (name, sampler) in enumerate(zip(plan.methods, samplers, strict=True))
    ]
    plain = min((curve.symmetry_seconds for curve in curves if curve.method == "gibbs"), default=None)
    if plain is None:
        plain = _setting_up(asked, SAMPLERS["gibbs"], plan)
    return Comparison(
        program=program,
        truth=found.origin,
        chains=plan.chains,
        lanes=plan.lanes,
        seed=plan.seed,
        protocol=plan.protocol,
        curves=tuple(
            replace(curve, symmetry_seconds=max(0.0, curve.symmetry_seconds - plain)) for curve in curves
        ),
        notes=(_CLOCK if plan.cluster is None else _CLUSTER_CLOCK,),
    )


def with_marginals(model: GroundModel) -> GroundModel:
    """The model with one query per free unknown, for its marginal."""
    atoms = model.atoms
    return replace(
        model,
        queries=tuple(
            GroundQuery("distribution", atoms.name(a), atoms.name(a), (Target(v, atoms.states(v)),), (), None)
            for v, a in enumerate(atoms.atom_of.tolist())
        ),
    )


# -------------------------------------------------------------------- the truth


def _truth(problem: Problem, truth: str | Sequence[FloatArray], plan: ComparePlan) -> Truth:
    if not isinstance(truth, str):
        return Truth(_checked(problem.model, truth), "given")
    options = Options(seed=plan.seed + 1, progress=plan.progress, cluster=plan.cluster)
    if truth == "exact":
        way = exact_way(problem)
        if way is None:
            raise PlxError(
                Diagnostic("exact marginals are out of reach for this model", hint="use --truth long")
            )
        return Truth(np.concatenate([answer.p for answer in run(way, plan.cluster).answers]), "exact")
    return _long(problem, options, plan)


def _checked(model: GroundModel, truth: Sequence[FloatArray]) -> FloatArray:
    cards = model.graph.card[: model.graph.n_variables]
    if len(truth) != len(cards):
        raise PlxError(
            Diagnostic(f"the truth has {len(truth):,} marginals, the model {len(cards):,} unknowns")
        )
    for node, (p, card) in enumerate(zip(truth, cards.tolist(), strict=True)):
        if len(p) != card:
            name = model.queries[node].name
            raise PlxError(Diagnostic(f"the truth gives `{name}` {len(p):,} values; it has {card:,}"))
    return np.concatenate(list(truth))


def _long(problem: Problem, options: Options, plan: ComparePlan) -> Truth:
    wanted = replace(options, seconds=_LONG * plan.seconds, accuracy=1e-5)
    made = sample(problem, SAMPLERS["lifted"], wanted)
    if made.status == "interrupted":  # half a truth is none
        raise KeyboardInterrupt
    states = made.diagnosis.states
    p = np.concatenate([states.mean[slice(*made.targets.offset[t : t + 2])] for t in made.targets.of_query])
    error = float(states.mcse.max(initial=0))
    return Truth(p, f"a run of lifted for {made.samples.seconds:.0f} s, standard errors up to {error:.1g}")


def divergence(estimate: FloatArray, truth: FloatArray, start: IntArray) -> float:
    """Mean over unknowns of Σ m̂ ln(m̂/m); ``start`` says where each unknown's values begin."""
    seen = estimate > 0
    with np.errstate(divide="ignore"):
        terms = np.zeros(len(estimate))
        terms[seen] = estimate[seen] * np.log(estimate[seen] / truth[seen])
    return max(0.0, float(terms.sum() / max(1, len(start))))


# ------------------------------------------------------------------- one method


def _curve(
    problem: Problem, name: str, sampler: Sampler[C], truth: FloatArray, plan: ComparePlan, done: float
) -> Curve:
    _warm_up(problem, sampler, plan)
    marks = _marks(plan.seconds)
    runs = []
    for chain in range(plan.chains):
        share = done + chain / (plan.chains * len(plan.methods))
        plan.progress(Progress(f"{name}, chain {chain + 1}", share, 0.0))
        runs.append(_Run(problem, sampler, plan, plan.seed + 1000 * chain, truth).along(marks))
    reached = max(run.first for run in runs)
    return Curve(
        method=name,
        seconds=np.mean([run.seconds[reached:] for run in runs], axis=0),
        kl=np.array([run.kl[reached:] for run in runs]),
        samples=np.mean([run.samples[reached:] for run in runs], axis=0),
        symmetry_seconds=min(run.setting_up for run in runs),
        notes=runs[-1].notes,
    )


def _marks(seconds: float) -> FloatArray:
    decades = np.log10(seconds / _FIRST_MARK) if seconds > _FIRST_MARK else 0.0
    steps = max(1, round(decades * _MARKS_PER_DECADE))
    marks: FloatArray = seconds * 10 ** (-decades * np.arange(steps, -1, -1) / steps)
    return marks


def _warm_up(problem: Problem, sampler: Sampler[Any], plan: ComparePlan) -> None:
    """Compile and load what the method needs, here or where chains are moved."""
    chains = sampler.init(problem, plan.seed, plan.lanes, 1)
    _stepping(sampler, chains, plan)(1, 1)


def _setting_up(problem: Problem, sampler: Sampler[Any], plan: ComparePlan) -> float:
    sampler.step(sampler.init(problem, plan.seed, plan.lanes, 1), 1, 1)
    clock = Clock()
    sampler.init(problem, plan.seed, plan.lanes, 1)
    return clock.seconds


def _stepping(
    sampler: Sampler[C], chains: C, plan: ComparePlan
) -> Callable[[int, int], npt.NDArray[np.number]]:
    """What moves chains from here on, and counts: the sampler, or the cluster of the plan."""
    if plan.cluster is None:
        return partial(sampler.step, chains)
    # a sampler of single updates differs only in how its chains begin, and is not known by name elsewhere
    known = next(one for one in SAMPLERS.values() if one.step is sampler.step)
    spread: InParts = plan.cluster.spread(known, chains, plan.lanes)
    return spread.step


class _Run:
    """One chain of one method: the clock runs while it sets up and moves, and stands while it is judged."""

    def __init__(
        self, problem: Problem, sampler: Sampler[Any], plan: ComparePlan, seed: int, truth: FloatArray
    ) -> None:
        clock = Clock()
        targets = problem.targets
        self.thin = 1 if sampler.single else thinning(problem)
        self.chains: Chains = sampler.init(problem, seed, plan.lanes, 1)
        self.setting_up = clock.seconds
        self.step = _stepping(sampler, self.chains, plan)
        self.clock = clock.seconds
        # past it workers that are silent are given up; how long a first draw takes is not known
        self.end = np.inf if plan.cluster is None else plan.seconds
        self.truth, self.start = truth, targets.offset[:-1]
        length = 1 if sampler.single else problem.graph.n_variables
        self.updates = plan.lanes * self.thin * length * self.chains.sweeps()
        self.total = np.zeros(int(targets.offset[-1]))
        self.draws, self.speed = 0, 0.0
        self.past: list[tuple[int, FloatArray]] = [(0, self.total.copy())]
        self.first = 0
        self.seconds: list[float] = []
        self.kl: list[float] = []
        self.samples: list[int] = []

    def along(self, marks: FloatArray) -> _Run:
        """Judge at the first draw, then at each mark; marks that setting up has passed are skipped."""
        self.first = min(int(np.searchsorted(marks, self.clock)), len(marks) - 1)
        self.seconds, self.kl, self.samples = ([0] * self.first for _ in range(3))  # type: ignore[assignment]
        for mark in marks[self.first :].tolist():
            while not self.draws or (self.kl[self.first :] and self.clock < mark):
                self._move(mark)
            self._judge()
        self.notes = self.chains.notes()
        return self

    def _move(self, mark: float) -> None:
        wanted = min(_CALL, max(mark - self.clock, 0.0))
        draws = max(1, min(int(self.speed * wanted), 2 * max(1, self.draws)))
        clock = Clock()
        with within(max(_CALL, self.end - self.clock) if self.draws else None):
            counts = self.step(draws, self.thin)
        taken = clock.seconds
        self.total += counts.sum(axis=0)
        self.draws += draws
        self.clock += taken
        self.speed = draws / max(taken, 1e-6)

    def _judge(self) -> None:
        draws, left_out = max(
            (past for past in self.past if past[0] <= _BURN_IN * self.draws), key=lambda past: past[0]
        )
        kept = self.total - left_out
        sums = np.add.reduceat(kept, self.start)
        lengths = np.diff(np.append(self.start, len(kept)))
        self.kl.append(divergence(kept / np.repeat(sums, lengths), self.truth, self.start))
        self.seconds.append(self.clock)
        self.samples.append(self.draws * self.updates)
        self.past = [past for past in self.past if past[0] >= draws] + [(self.draws, self.total.copy())]
