"""All queries of a ground model answered, by the method asked for or the best that fits."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from plx.deadline import OutOfTimeError, seconds_left, within
from plx.errors import Diagnostic, PlxError
from plx.graph.barren import without_barren
from plx.graph.model import GroundModel
from plx.graph.sizes import size_text
from plx.infer.answers import log_z_answer, map_answer
from plx.infer.exact.enumeration import enumerate_worlds, enumerated, log10_joint_worlds, world_count
from plx.infer.inference import Answer, Inference, World
from plx.infer.options import LOADING, Clock, Options, Progress, check_choice

if TYPE_CHECKING:
    from plx.infer.exact_choice import ExactWays

WORLDS = 1 << 22
"""Enumeration visits at most this many worlds."""

FEWEST = 16
"""Fewer chains than this may all be in one place and agree, so more are run than were asked for."""

_FEW = 1 << 14
"""So few worlds are enumerated without looking for anything better."""

_PLANNING = 0.25
"""The share of the time in which exact ways are looked for where sampling is the other choice;"""

_LEAST_PLANNING, _USUAL_PLANNING = 0.1, 15.0
"""so many seconds at least, and so many where there is no limit."""

_SOLVING = 0.5
"""The share of what is left then that an exact way may take before sampling begins in its place."""


@dataclass(frozen=True)
class Choice:
    """A way to answer, and why it is taken."""

    method: str
    reason: str
    run: Callable[[], Inference]


def infer(model: GroundModel, method: str = "auto", options: Options | None = None) -> Inference:
    """Answer every query. The model's queries have no ``given``: conditioning comes before.

    ``method`` is one of `methods()`. Everything that is done counts for ``options.seconds``. Raises CallError
    if there is no such method, PlxError if it cannot take the model on or not in time, or if no world is
    possible.
    """
    from plx.infer.hard.distant import DISTANT, is_resolved, without_distant

    options = options or Options()
    clock = Clock()
    options.progress(Progress(LOADING, 0.0, 0.0))
    require_method(method)
    with within(options.seconds):
        try:
            model = without_barren(model)
            given, model = model, without_distant(model)
            choice, found = _answered(model, method, options)
        except OutOfTimeError:
            raise _too_late(method, options) from None
        if options.draws is not None and found.log_weights is None:
            found = _with_own_draws(model, found, options)
    found = replace(found, method=choice.method, reason=choice.reason, seconds=clock.seconds)
    if model.graph is not given.graph and _lacks_worlds(model, found):
        found = replace(found, notes=(*found.notes, DISTANT))
    return found if is_resolved(given) else replace(found, log_z=None)


def _with_own_draws(model: GroundModel, found: Inference, options: Options) -> Inference:
    """Draws for answers that come of no chains in the model."""
    from plx.infer.mcmc.draws import with_draws

    return with_draws(model, found, options, None)


def _lacks_worlds(model: GroundModel, found: Inference) -> bool:
    """Whether fewer of the best worlds are there than a `map` asks for."""
    pairs = zip(model.queries, found.answers, strict=True)
    return any(query.kind == "map" and len(answer.worlds) < query.best for query, answer in pairs)


def _answered(model: GroundModel, method: str, options: Options) -> tuple[Choice, Inference]:
    """The way that is taken, and the answers it gives."""
    if method == "auto":
        return _exact_in_time(model, options) or _run(sampler_choice(model, options))
    return _run(METHODS[method](model, options) if method in METHODS else sampler(method, model, options))


def _run(choice: Choice) -> tuple[Choice, Inference]:
    return choice, choice.run()


def _exact_in_time(model: GroundModel, options: Options) -> tuple[Choice, Inference] | None:
    """Exact answers, if there are any in such shares of the time that the rest is enough for sampling."""
    try:
        with within(_planning()):
            choice = exact_choice(model, options)
        if choice is None:
            return None
        with within(_SOLVING * seconds_left()):
            return _run(choice)
    except OutOfTimeError:
        return None


def _planning() -> float:
    """Seconds for looking for exact ways."""
    left = seconds_left()
    return _USUAL_PLANNING if math.isinf(left) else max(_LEAST_PLANNING, _PLANNING * left)


def _too_late(method: str, options: Options) -> PlxError:
    """The error for a run that has nothing to show when its time is over."""
    what = "exact inference has" if method in METHODS else f"{method} has"
    message = f"{what} no answer after {options.seconds:g} seconds"
    return PlxError(Diagnostic(message, hint="give the run more --seconds, or use another --method"))


def exact_choice(model: GroundModel, options: Options) -> Choice | None:
    """The cheapest exact way that fits: enumeration, elimination or counting; None if none does."""
    return _listed(model, _FEW) or _looked_for(model, options)[0]


def _looked_for(model: GroundModel, options: Options) -> tuple[Choice | None, ExactWays]:
    """The cheapest exact way for worlds that are too many to be listed without a look, and all ways."""
    from plx.infer.exact_choice import ExactWays

    options.progress(Progress("looking for an order to eliminate in", 0.0, 0.0))
    ways = ExactWays(model)
    if (way := ways.cheapest()) is None:
        return _listed(model, WORLDS), ways
    return Choice("exact", way.reason, lambda: _with_worlds(model, way.run(), options)), ways


def _listed(model: GroundModel, most: int) -> Choice | None:
    """Enumeration, if there are at most so many worlds; each unknown alone makes one or more."""
    if model.graph.n_variables > most or world_count(model) > most:
        return None
    return Choice("exact", enumerated(model), lambda: enumerate_worlds(model))


def exact(model: GroundModel, options: Options) -> Choice:
    """The exact way asked for. Raises PlxError, naming the size and what couples most, if none fits."""
    if (listed := _listed(model, _FEW)) is not None:
        return listed
    choice, ways = _looked_for(model, options)
    if choice is None:
        raise ways.refusal(_size(model))
    return choice


def sampler_choice(model: GroundModel, options: Options) -> Choice:
    """The sampler that ``auto`` takes where no exact way fits; `map` is exact still, if that fits."""
    reason = f"exact answers are out of reach ({_size(model)} worlds)"
    return Choice("lifted", reason, lambda: _with_worlds(model, _sampled("lifted", model, options), options))


def sampler(name: str, model: GroundModel, options: Options) -> Choice:
    """A sampler asked for by name; `map` by simulated annealing."""
    run = partial(_sampled, name, model, options)
    return Choice(name, "asked for", lambda: _with_worlds(model, run(), options, proven=False))


METHODS: dict[str, Callable[[GroundModel, Options], Choice]] = {"exact": exact}
"""The methods that are neither ``auto`` nor a sampler."""


def methods() -> tuple[str, ...]:
    """The names of all methods; those of samplers are the keys of `plx.infer.mcmc.samplers.SAMPLERS`."""
    from plx.infer.mcmc.samplers import SAMPLERS

    return ("auto", *METHODS, *SAMPLERS)


def require_method(method: str) -> None:
    """Raises CallError if there is no such method; samplers are not looked up where they do not matter."""
    if method not in ("auto", *METHODS):
        check_choice("method", method, methods())


def _sampled(name: str, model: GroundModel, options: Options) -> Inference:
    """Answers by a sampler to the queries that have targets."""
    from plx.infer.mcmc.advice import advice
    from plx.infer.mcmc.draws import with_draws
    from plx.infer.mcmc.estimates import sampled_answers
    from plx.infer.mcmc.run import sample
    from plx.infer.mcmc.samplers import SAMPLERS

    asked = replace(model, queries=tuple(query for query in model.queries if query.targets))
    if not asked.queries:
        return Inference(name, "", (Answer(),) * len(model.queries), seed=options.seed)
    options = replace(options, chains=max(options.chains, FEWEST))
    with within(seconds_left() / (2 if any(query.kind == "map" for query in model.queries) else 1)):
        found = sample(asked, SAMPLERS[name], options)
    answered = sampled_answers(asked, found, options)
    answers = iter(answered)
    samples = found.samples
    inference = Inference(
        name,
        "",
        tuple(next(answers) if query.targets else Answer() for query in model.queries),
        seed=options.seed,
        chains=options.chains,
        draws=samples.draws * samples.counts.shape[0] * samples.counts.shape[1],
        status=found.status,
        notes=samples.notes,
        advice=advice(asked, found, answered, name, options),
    )
    if options.draws is None or found.standing is None or found.standing.model.graph is not model.graph:
        return inference
    return with_draws(model, inference, options, found)


def _with_worlds(model: GroundModel, found: Inference, options: Options, proven: bool = True) -> Inference:
    """The answers of queries without targets filled in: `map`, and `logz` where it is known."""
    answers = list(found.answers)
    notes = list(found.notes)
    wanted = max((query.best for query in model.queries if query.kind == "map"), default=0)
    worlds, how = _worlds(model, wanted, options, proven) if wanted else ((), "")
    for i, query in enumerate(model.queries):
        if query.kind == "map":
            answers[i] = map_answer(worlds[: query.best])
        elif query.kind == "logz":
            answers[i] = log_z_answer(found.log_z)
            if found.log_z is None:
                notes.append(_log_z_note(found.method, refused=proven))
    if wanted:
        notes.append(how)
    return replace(found, answers=tuple(answers), notes=tuple(dict.fromkeys(notes)))


def _worlds(model: GroundModel, count: int, options: Options, proven: bool) -> tuple[tuple[World, ...], str]:
    """The best worlds and how they were found: with proof where wanted, else by simulated annealing."""
    if proven:
        from plx.infer.best.choice import most_probable

        return most_probable(model, count, options)
    from plx.infer.best.annealing import anneal

    note = "the most probable world was searched for by simulated annealing; there may be better"
    return anneal(model, options, count), note


def _log_z_note(method: str, refused: bool) -> str:
    """Why log Z is unknown, and what gives it."""
    note = f"log Z is unknown: {method} samples worlds, and only --method exact sums over all of them"
    return note + (", which is out of reach here" if refused else ", where the model fits")


def _size(model: GroundModel) -> str:
    """``1,024`` or ``about 10^57``."""
    return size_text(log10_joint_worlds(model) / math.log10(2))
