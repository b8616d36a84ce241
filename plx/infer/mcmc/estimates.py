"""From a run's diagnosis to the answers of the queries."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from plx.graph.model import GroundModel, GroundQuery
from plx.infer.answers import exact_answer, is_number, moments, numbers
from plx.infer.inference import Answer, LogZ
from plx.infer.mcmc.batches import scaled_error
from plx.infer.mcmc.log_z import OF_LOG_Z
from plx.infer.mcmc.run import Sampled
from plx.infer.options import Options


def sampled_answers(model: GroundModel, found: Sampled, options: Options) -> tuple[Answer, ...]:
    """One answer per query; all queries have targets. What has one state is certain."""
    errors = scaled_error(found.diagnosis)
    return tuple(
        _answer(model, query, found, int(t), float(errors[t]), options)
        for query, t in zip(model.queries, found.targets.of_query, strict=True)
    )


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
    mean, sd = moments(numbers(model, query), answer.p)
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
