"""All queries of a ground model answered, by the method asked for or the best that fits."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from plx.errors import Diagnostic, PlxError, did_you_mean
from plx.ground.graph import GroundModel, GroundQuery
from plx.infer.answers import log_z_answer, map_answer
from plx.infer.enumerate import enumerate_worlds, world_count
from plx.infer.progress import Clock, Options
from plx.infer.samples import Answer, Inference

WORLDS = 1 << 22
"""Enumeration visits at most this many worlds."""

_FEW = 1 << 14
"""So few worlds are enumerated without looking for anything better."""


@dataclass(frozen=True)
class Choice:
    """A way to answer, and why it is taken."""

    method: str
    reason: str
    run: Callable[[], Inference]


def infer(model: GroundModel, method: str = "auto", options: Options | None = None) -> Inference:
    """Answer every query. The model's queries have no ``given``: conditioning comes before.

    ``method`` is "auto" or a key of `METHODS`. Raises PlxError if there is no such method, if it
    cannot take the model on, or if no world is possible.
    """
    options = options or Options()
    clock = Clock()
    if method == "auto":
        choice = exact_choice(model, options) or sampler_choice(model, options)
    elif method in METHODS:
        choice = METHODS[method](model, options)
    else:
        hint = did_you_mean(method, METHODS) or f"methods: {', '.join(['auto', *METHODS])}"
        raise PlxError(Diagnostic(f"there is no method `{method}`", hint=hint))
    return replace(choice.run(), method=choice.method, reason=choice.reason, seconds=clock.seconds)


def exact_choice(model: GroundModel, options: Options) -> Choice | None:
    """The cheapest exact way that fits: enumeration, then elimination; None if none does."""
    worlds = world_count(model)
    every = "the only world is" if worlds == 1 else f"all {worlds:,} worlds were"
    listed = Choice("exact", f"{every} enumerated", lambda: enumerate_worlds(model))
    if worlds <= _FEW:
        return listed
    from plx.infer.elimination import plan, solve

    chosen = plan(model)
    if chosen.fits():
        reason = (
            f"the largest of {len(chosen.skeleton.order):,} cliques has {chosen.largest_clique:,.0f} states"
        )
        return Choice("exact", reason, lambda: _with_worlds(model, solve(model, chosen), options))
    return listed if worlds <= WORLDS else None


def exact(model: GroundModel, options: Options) -> Choice:
    """The exact way asked for. Raises PlxError, naming the size and what couples most, if none fits."""
    choice = exact_choice(model, options)
    if choice is None:
        raise _too_large(model)
    return replace(choice, reason=f"asked for; {choice.reason}")


def sampler_choice(model: GroundModel, options: Options) -> Choice:
    """The sampler that ``auto`` takes where no exact way fits."""
    reason = f"exact answers are out of reach ({_size(world_count(model))} worlds)"
    return Choice("gibbs", reason, partial(_sampled, "gibbs", model, options))


def sampler(name: str, model: GroundModel, options: Options) -> Choice:
    """A sampler asked for by name."""
    return Choice(name, "asked for", partial(_sampled, name, model, options))


METHODS: dict[str, Callable[[GroundModel, Options], Choice]] = {
    "exact": exact,
    "gibbs": partial(sampler, "gibbs"),
    "random-scan": partial(sampler, "random-scan"),
}
"""Every method by name but ``auto``: "exact", and the samplers of `plx.infer.samplers`."""


def _sampled(name: str, model: GroundModel, options: Options) -> Inference:
    """Answers by a sampler; `map` by simulated annealing; no estimate of log Z."""
    from plx.infer.estimates import sampled_answers
    from plx.infer.run import sample
    from plx.infer.samplers import SAMPLERS

    asked = replace(model, queries=tuple(query for query in model.queries if query.targets))
    if not asked.queries:
        blank = Inference(name, "", (Answer(),) * len(model.queries), seed=options.seed)
        return _with_worlds(model, blank, options)
    found = sample(asked, SAMPLERS[name], options)
    answers = iter(sampled_answers(asked, found, options))
    samples = found.samples
    blank = Inference(
        name,
        "",
        tuple(next(answers) if query.targets else Answer() for query in model.queries),
        seed=options.seed,
        chains=options.chains,
        draws=samples.draws * samples.counts.shape[0] * samples.counts.shape[1],
        status=found.status,
        notes=samples.notes,
    )
    return _with_worlds(model, blank, options)


def _with_worlds(model: GroundModel, found: Inference, options: Options) -> Inference:
    """The answers of queries without targets filled in: `map` by annealing, `logz` where it is known."""
    answers = list(found.answers)
    notes = list(found.notes)
    for i, query in enumerate(model.queries):
        if query.kind == "map":
            answers[i] = _searched(model, query, options)
            notes.append(
                "the most probable world was searched for by simulated annealing; it may not be the best"
            )
        elif query.kind == "logz":
            answers[i] = log_z_answer(found.log_z)
            if found.log_z is None:
                notes.append(
                    f"`{found.method}` does not estimate logz; --method exact gives it where the model fits"
                )
    return replace(found, answers=tuple(answers), notes=tuple(dict.fromkeys(notes)))


def _searched(model: GroundModel, query: GroundQuery, options: Options) -> Answer:
    from plx.infer.anneal import anneal

    return map_answer(anneal(model, options, query.best))


def _too_large(model: GroundModel) -> PlxError:
    from plx.infer.elimination import plan

    chosen = plan(model)
    size = f"{chosen.largest_clique:,.0f}" if chosen.complete else f"over {chosen.largest_clique:,.0f}"
    graph = model.graph
    wide = set(chosen.widest())
    rules = [graph.rule_of[f] for f in range(graph.n_factors) if wide & set(graph.scope_of(f).tolist())]
    names = "; ".join(
        f"`{model.rules[r].text}`" for r in sorted(set(rules), key=rules.count, reverse=True)[:3]
    )
    message = (
        f"exact inference is out of reach: {_size(world_count(model))} worlds, and elimination needs"
        f" a table of {size} entries"
    )
    return PlxError(Diagnostic(message, hint=f"use --method gibbs; what couples most: {names}"))


def _size(count: int) -> str:
    """``1,024`` or ``about 10^57``."""
    return f"{count:,}" if count < 10**9 else f"about 10^{math.log10(count):.0f}"
