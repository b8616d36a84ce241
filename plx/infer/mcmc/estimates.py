"""From a run's diagnosis to the answers of the queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from plx.graph.model import GroundModel, GroundQuery
from plx.graph.queries import QueryBlock, each_part
from plx.infer.answers import exact_answer, is_number, moments, numbers, reads_numbers
from plx.infer.inference import Answer, AnswerBlock, LogZ
from plx.infer.mcmc.batches import scaled_error
from plx.infer.mcmc.log_z import OF_LOG_Z
from plx.infer.mcmc.run import Sampled
from plx.infer.options import Options
from plx.sequences import joined
from plx.values import FloatArray, IntArray


def sampled_answers(model: GroundModel, found: Sampled, options: Options) -> Sequence[Answer]:
    """One answer per query; all queries have targets. What has one state is certain."""
    errors, of_query = scaled_error(found.diagnosis), found.targets.of_query

    def block(at: slice, queries: QueryBlock) -> AnswerBlock:
        return _answers(model, queries, found, of_query[at], errors, options)

    def single(at: int, query: GroundQuery) -> Answer:
        return _answer(model, query, found, int(of_query[at]), float(errors[of_query[at]]), options)

    return joined(each_part(model.queries, block, single))


def _answers(
    model: GroundModel, block: QueryBlock, found: Sampled, t: IntArray, errors: FloatArray, options: Options
) -> AnswerBlock:
    """As `_answer`, for a block whose targets are ``t`` [n]."""
    states, spread, ranks = found.diagnosis.states, found.diagnosis.numbers, found.diagnosis.ranks
    first = found.targets.offset[:-1]
    certain = np.diff(found.targets.offset)[t] == 1
    begin = np.where(certain, len(states.mean), first[t])
    out = AnswerBlock.of(block, begin, np.append(states.mean, 1.0), np.append(states.mcse, 0.0))
    rhat, ess = np.maximum.reduceat(states.rhat, first)[t], np.minimum.reduceat(states.ess, first)[t]
    sure = np.maximum.reduceat(states.mcse, first)[t] < options.accuracy
    for form, rows in block.rows_by_form():
        if not reads_numbers(model.values, block.kind, form.labels):
            continue
        x, own = model.values.floats(form.labels), t[rows]
        out.mean[rows], out.sd[rows] = moments(x, out.p[begin[rows][:, None] + np.arange(len(x))])
        out.mean_mcse[rows] = np.where(certain[rows], 0.0, spread.mcse[own])
        out.sd_mcse[rows] = np.where(certain[rows], 0.0, found.sd_mcse[own])
        rhat[rows] = np.maximum(rhat[rows], np.maximum(spread.rhat[own], ranks.rhat[own]))
        for name, sizes in (("bulk_ess", ranks.bulk[own]), ("tail_ess", ranks.tail[own])):
            known = ~certain[rows] & np.isfinite(sizes)
            getattr(out, name)[rows] = np.where(known, sizes, np.nan)
        sure[rows] &= errors[own] < options.accuracy
    out.converged[:] = certain | (sure & (rhat < options.rhat) & ~found.stuck[t])
    out.ess[:] = np.where(certain, np.nan, ess)
    out.rhat[:] = np.where(certain | ~np.isfinite(rhat), np.nan, rhat)
    return out


def sampled_log_z(found: LogZ | None, options: Options) -> Answer:
    """The answer to `query logz`."""
    if found is None:
        return Answer(converged=False)
    return Answer(
        log_z=found.value,
        log_z_mcse=found.mcse,
        ess=found.ess,
        rhat=found.rhat if np.isfinite(found.rhat) else None,
        converged=found.mcse < OF_LOG_Z * options.accuracy and found.rhat < options.rhat,
    )


def log_z_notes(found: LogZ | None, chains: int) -> tuple[str, ...]:
    """Why the standard error of log Z is large, where chains have not mixed."""
    if found is None:
        return ()
    if found.apart is not None:
        hot, cold = found.apart
        return (
            f"log Z lies between {hot:.6g} by chains that began hot and {cold:.6g} by those that began cold,"
            " as these have not met yet",
        )
    if found.mixed >= chains / 2:
        return ()
    return (
        f"a world has come from β = 0 to β = 1 in {found.mixed:,} of {chains:,} chains;"
        " the standard error of log Z is that of so few",
    )


def _answer(
    model: GroundModel, query: GroundQuery, found: Sampled, t: int, error: float, options: Options
) -> Answer:
    part = slice(*found.targets.offset[t : t + 2])
    if part.stop - part.start == 1:
        return exact_answer(model, query, np.ones(1))
    states = found.diagnosis.states
    rhat = float(states.rhat[part].max())
    answer = Answer(
        p=states.mean[part],
        mcse=states.mcse[part],
        ess=float(states.ess[part].min()),
        rhat=rhat if np.isfinite(rhat) else None,
        converged=bool(
            states.mcse[part].max() < options.accuracy and rhat < options.rhat and not found.stuck[t]
        ),
    )
    if not is_number(model, query):
        return answer
    mean, sd = map(float, moments(numbers(model, query), answer.p))
    spread, ranks = found.diagnosis.numbers, found.diagnosis.ranks
    rhat = max(rhat, float(spread.rhat[t]), float(ranks.rhat[t]))
    bulk, tail = float(ranks.bulk[t]), float(ranks.tail[t])
    converged = answer.converged and error < options.accuracy and rhat < options.rhat
    return replace(
        answer,
        mean=mean,
        sd=sd,
        mean_mcse=float(spread.mcse[t]),
        sd_mcse=float(found.sd_mcse[t]),
        rhat=rhat if np.isfinite(rhat) else None,
        bulk_ess=bulk if np.isfinite(bulk) else None,
        tail_ess=tail if np.isfinite(tail) else None,
        converged=converged,
    )
