"""All queries of a ground model answered, by the method asked for or the best that fits."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from plx.deadline import OutOfTimeError, seconds_left, within
from plx.errors import Diagnostic, PlxError
from plx.graph.assemble import variable_cards
from plx.graph.model import GroundModel
from plx.graph.queries import singles, with_targets
from plx.graph.sizes import joint_bits, size_text
from plx.infer.answers import log_z_answer, map_answer, worlds_wanted
from plx.infer.exact_choice import lists_worlds
from plx.infer.exact_plan import ExactPlan
from plx.infer.exact_run import carried_out, exactly, exactly_in_time, run
from plx.infer.inference import Answer, Inference, World
from plx.infer.limits import CHEAP, COUNTS, FEWEST, KNOWN
from plx.infer.options import LOADING, Clock, Options, Progress, check_choice
from plx.infer.prepared import Prepared
from plx.infer.problem import Problem
from plx.sequences import inserted, joined, replaced


def infer(model: GroundModel | Prepared, method: str = "auto", options: Options | None = None) -> Inference:
    """Answer every query. The model's queries have no ``given``: conditioning comes before.

    ``method`` is one of `methods()`. Everything that is done counts for ``options.seconds``. Raises CallError
    if there is no such method, PlxError if it cannot take the model on or not in time, or if no world is
    possible.
    """
    options = options or Options()
    ready = model if isinstance(model, Prepared) else Prepared(model, options.progress)
    require_method(method)
    return _finished(ready, method, options, lambda: _answered(ready, method, options), Clock())


def known_exact(ready: Prepared, options: Options, most: Callable[[], float]) -> Inference | None:
    """Exact answers by a way that is known to be cheap, or to take at most ``most()`` operations, as `infer`
    gives them; None if there is none."""
    clock, plan = Clock(), None
    with suppress(OutOfTimeError), within(KNOWN if options.seconds is None else min(KNOWN, options.seconds)):
        plan = ready.ways.cheapest()
        if plan is not None and not _finds_worlds(plan, ready.problem.model):
            plan = None
    if plan is None or plan.operations is None or (plan.operations > CHEAP and plan.operations > most()):
        return None
    problem, ways = ready.problem, ready.ways
    return _finished(
        ready,
        "exact",
        options,
        lambda: carried_out(
            ways, plan, lambda one: _with_worlds(problem, run(one, options.cluster), options)
        ),
        clock,
    )


def _finds_worlds(plan: ExactPlan, model: GroundModel) -> bool:
    """Whether what `map` asks for, if it is asked for, is sure to be found as quickly as all else."""
    if not (wanted := worlds_wanted(model.queries)) or lists_worlds(plan):
        return True
    from plx.infer.best.choice import is_quick

    return is_quick(model, max(wanted.values()))


def _finished(
    ready: Prepared, method: str, options: Options, answered: Callable[[], Inference], clock: Clock
) -> Inference:
    """The answers with what holds of them whatever the way, in the time that there is.

    ``clock`` runs since work on them began.
    """
    from plx.infer.hard.distant import DISTANT, is_resolved

    options.progress(Progress(LOADING, 0.0, 0.0))
    with within(options.seconds):
        try:
            found = answered()
        except OutOfTimeError:
            if options.seconds is None:  # whoever set the time says that it is over
                raise
            raise PlxError(too_late(method, options.seconds)) from None
        if options.draws is not None and found.log_weights is None:
            found = _with_own_draws(ready.problem, found, options)
    found = replace(found, seconds=clock.seconds)
    if ready.problem.graph is not ready.needed.graph and _lacks_worlds(ready.problem.model, found):
        found = replace(found, notes=(*found.notes, DISTANT))
    return found if is_resolved(ready.needed) else replace(found, log_z=None)


def _with_own_draws(problem: Problem, found: Inference, options: Options) -> Inference:
    """Draws for answers that come of no chains in the model."""
    from plx.infer.mcmc.draws import with_draws

    return with_draws(problem, found, options, None)


def _lacks_worlds(model: GroundModel, found: Inference) -> bool:
    """Whether fewer of the best worlds are there than a `map` asks for."""
    return any(len(found.answers[i].worlds) < n for i, n in worlds_wanted(model.queries).items())


def _answered(ready: Prepared, method: str, options: Options) -> Inference:
    """The answers, and the way that was taken."""
    problem = ready.problem
    if method == "exact":
        return _exact(ready, options)
    if method != "auto":
        return _asked_for(method, problem, options)
    if options.resumed is not None:
        return _out_of_reach(problem, options)
    found = exactly_in_time(
        ready.ways, lambda plan: _with_worlds(problem, run(plan, options.cluster), options)
    )
    found = found or _out_of_reach(problem, options)
    return replace(found, notes=(*found.notes, *ready.ways.given_up))


def too_late(method: str, seconds: float) -> Diagnostic:
    """The error for a run that has nothing to show when its time is over."""
    what = "exact inference has" if method == "exact" else f"{method} has"
    message = f"{what} no answer after {seconds:.3g} seconds"
    return Diagnostic(message, hint="give the run more --seconds, or use another --method")


def _exact(ready: Prepared, options: Options) -> Inference:
    """The exact way asked for. Raises PlxError, naming the size and what couples most, if none fits."""
    problem, ways = ready.problem, ready.ways
    found = exactly(ways, lambda plan: _with_worlds(problem, run(plan, options.cluster), options))
    if found is None:
        raise ways.refusal(worlds_text(problem), options.refused)
    return found


def _out_of_reach(problem: Problem, options: Options) -> Inference:
    """What ``auto`` does where no exact way fits: it samples; `map` is exact still, if that fits."""
    reason = f"exact answers are out of reach ({worlds_text(problem)} worlds)"
    name = None
    if any(query.kind == "logz" for _, query in singles(problem.model.queries)):
        name, reason = "tempered", f"{reason}, and log Z is asked for"
    return _with_worlds(problem, _sampled(name, reason, problem, options), options)


def _asked_for(name: str, problem: Problem, options: Options) -> Inference:
    """What a sampler does that is asked for by name; `map` by simulated annealing."""
    return _with_worlds(problem, _sampled(name, "asked for", problem, options), options, proven=False)


def methods() -> tuple[str, ...]:
    """The names of all methods; those of samplers are the keys of `plx.infer.mcmc.samplers.SAMPLERS`."""
    from plx.infer.mcmc.samplers import SAMPLERS

    return (*_UNSAMPLED, *SAMPLERS)


def require_method(method: str) -> None:
    """Raises CallError if there is no such method; samplers are not looked up where they do not matter."""
    if method not in _UNSAMPLED:
        check_choice("method", method, methods())


_UNSAMPLED = ("auto", "exact")
"""The methods that are no sampler."""


def _sampled(name: str | None, reason: str, problem: Problem, options: Options) -> Inference:
    """Answers by a sampler, None: the better one, to queries that have targets, and to `logz` if it can."""
    from plx.infer.mcmc.advice import advice
    from plx.infer.mcmc.draws import with_draws
    from plx.infer.mcmc.estimates import log_z_notes, sampled_answers, sampled_log_z
    from plx.infer.mcmc.pilot import USUAL, sample_by_choice
    from plx.infer.mcmc.run import sample
    from plx.infer.mcmc.samplers import SAMPLERS

    queries, resumed = problem.model.queries, options.resumed
    if resumed is not None:  # its chains stand in its own copy of the model
        name, problem = resumed.sampler.name, resumed.problem.asking(queries)
    others = {i: query for i, query in singles(queries) if not query.targets}
    sums = name is not None and SAMPLERS[name].sums and any(q.kind == "logz" for q in others.values())
    asked = resumed.problem if resumed else problem.asking(with_targets(queries))
    if not (asked.model.queries or sums):
        return Inference(name or USUAL, reason, (Answer(),) * len(queries), seed=options.seed)
    options = replace(options, chains=_chains(options, int(asked.targets.offset[-1])))
    with within(seconds_left() / (2 if any(q.kind == "map" for q in others.values()) else 1)):
        if name is None:
            name, why, found = sample_by_choice(asked, options)
            reason = f"{reason}; {why}" if why else reason
        else:
            found = sample(asked, SAMPLERS[name], options, sums)
    log_z = found.log_z
    sum_answer = sampled_log_z(log_z, options)
    answers = sampled_answers(asked.model, found, options)
    answered = joined([answers, (sum_answer,)]) if sums and log_z else answers
    unsampled = {i: sum_answer if query.kind == "logz" else Answer() for i, query in others.items()}
    samples = found.samples
    inference = Inference(
        name,
        reason,
        inserted(answers, unsampled),
        log_z=None if log_z is None else log_z.value,
        log_z_mcse=0.0 if log_z is None else log_z.mcse,
        seed=options.seed,
        chains=options.chains,
        draws=samples.draws * samples.counts.shape[0] * samples.counts.shape[1],
        status=found.status,
        notes=(*samples.notes, *(log_z_notes(log_z, options.chains) if sums else ())),
        advice=advice(asked.model, found, answered, name, options),
    )
    if options.draws is None or found.standing is None or found.standing.model.graph is not problem.graph:
        return inference
    return with_draws(problem, inference, options, found)


def _chains(options: Options, states: int) -> int:
    """How many chains count so many states; fewer where it is many, if nobody asked for that number."""
    chains = max(options.chains, FEWEST)
    while not options.fixed and chains > FEWEST and chains * states > COUNTS:
        chains //= 2
    return chains


def _with_worlds(problem: Problem, found: Inference, options: Options, proven: bool = True) -> Inference:
    """The answers to `map` filled in where they have no worlds, and to `logz` where it is known."""
    queries, notes, more = problem.model.queries, list(found.notes), dict[int, Answer]()
    kinds = {i: query for i, query in singles(queries) if not query.targets}
    open_ = {i: q.best for i, q in kinds.items() if q.kind == "map" and not found.answers[i].worlds}
    if open_:
        worlds, how = _worlds(problem, max(open_.values()), options, proven)
        more |= {i: map_answer(worlds[:best]) for i, best in open_.items()}
        notes.append(how)
    for i, query in kinds.items():
        if query.kind == "logz" and found.answers[i].log_z is None:
            more[i] = log_z_answer(found.log_z)
            if found.log_z is None:
                notes.append(_log_z_note(found.method, refused=proven))
    return replace(found, answers=replaced(found.answers, more), notes=tuple(dict.fromkeys(notes)))


def _worlds(problem: Problem, count: int, options: Options, proven: bool) -> tuple[tuple[World, ...], str]:
    """The best worlds and how they were found: with proof where wanted, else by simulated annealing."""
    if proven:
        from plx.infer.best.choice import most_probable

        return most_probable(problem, count, options)
    from plx.infer.best.annealing import anneal

    note = "the most probable world was searched for by simulated annealing; there may be better"
    return anneal(problem, options, count), note


def _log_z_note(method: str, refused: bool) -> str:
    """Why log Z is not known, and what gives it."""
    from plx.infer.mcmc.samplers import SAMPLERS

    if method in SAMPLERS and SAMPLERS[method].sums:
        return "log Z is not known: the worlds that the hard rules leave were not counted in time"
    exact = "--method exact, out of reach here, sums" if refused else "--method exact sums"
    return (
        f"log Z is not known: {method} samples worlds; {exact} over all of them,"
        " and --method tempered estimates it"
    )


def worlds_text(problem: Problem) -> str:
    """How many worlds there are: ``1,024`` or ``about 10^57``."""
    return size_text(joint_bits(variable_cards(problem.graph)))
