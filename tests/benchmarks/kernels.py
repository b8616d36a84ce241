"""Updates and effective samples per second of the Gibbs kernel, summed over lanes.

``python -m tests.benchmarks.kernels [--threads N] [--lanes N] [--seconds S]``: updates alone.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from fractions import Fraction

import numpy as np

from plx.graph.model import GroundModel
from plx.infer.gibbs.chains import chains_at, sweep
from plx.infer.gibbs.compiled import compile_model
from plx.infer.mcmc.run import sample, thinning
from plx.infer.mcmc.samplers import SAMPLERS
from plx.infer.options import Options
from plx.infer.problem import Problem
from tests.benchmarks.kernel_models import kernel_models
from tests.benchmarks.models import potts
from tests.benchmarks.table import Settings, Spread, Table, rate

LANES = 64


def measure(settings: Settings) -> list[Table]:
    """Updates per second, effective samples per second, and what a second thread adds."""
    return [_updates(settings), _effective(settings), _threads(settings)]


def updates(model: GroundModel, settings: Settings, lanes: int = LANES, threads: int = 1) -> Spread:
    """Updates of single unknowns per second, nothing recorded."""
    plan = compile_model(Problem(replace(model, queries=())))
    states = np.zeros((model.graph.n_variables, lanes), dtype=np.int32)
    chains = chains_at(plan, states, 1, threads)
    return rate(lambda n: sweep(chains, n), model.graph.n_variables * lanes, settings)


def recorded(model: GroundModel, settings: Settings, lanes: int = LANES) -> Spread:
    """Updates per second with every answer recorded as often as in a run."""
    plan = compile_model(Problem(model))
    thin = thinning(plan.problem)
    chains = chains_at(plan, np.zeros((model.graph.n_variables, lanes), dtype=np.int32), 1, 1)
    return rate(lambda n: chains.step(n, thin), thin * model.graph.n_variables * lanes, settings)


def effective(model: GroundModel, method: str, seconds: float) -> tuple[float, float]:
    """Effective samples per second of a run, start included: of the slowest answer, of the median one."""
    options = Options(seed=1, chains=LANES, seconds=seconds, accuracy=1e-9, threads=1)
    run = sample(Problem(model), SAMPLERS[method], options)
    ess = run.diagnosis.states.ess / run.samples.seconds
    return float(ess.min()), float(np.median(ess))


def _updates(settings: Settings) -> Table:
    rows = []
    for one in kernel_models(settings.quick):
        model = one.make()
        bare, full = updates(model, settings), recorded(model, settings)
        verdict = f"{bare.median / one.bar:.1f}×"
        rows.append((one.name, model.graph.n_variables, len(model.queries), bare, full, one.bar, verdict))
    columns = ("model", "unknowns", "answers", "updates/s", "with recording", "bar", "updates/s ÷ bar")
    return Table(f"Updates per second, one thread, {LANES} lanes", columns, rows)


def _effective(settings: Settings) -> Table:
    seconds = 0.02 if settings.quick else 2.0
    rows = []
    for one in kernel_models(settings.quick):
        model = one.make()
        figures = [effective(model, method, seconds) for method in ("gibbs", "lifted")]
        rows.append((one.name, *figures[0], *figures[1]))
    columns = ("model", "gibbs, slowest answer", "gibbs, median", "lifted, slowest answer", "lifted, median")
    note = f"Runs of {seconds:g} s from compiling to the last draw, so finding symmetries counts."
    return Table("Effective samples per second, one thread", columns, rows, (note,))


def _threads(settings: Settings) -> Table:
    side, lanes = (10, 16) if settings.quick else (1000, 128)
    model = potts(side, 2, Fraction(2, 5))
    one, two = (updates(model, settings, lanes, threads) for threads in (1, 2))
    row = (f"Ising grid {side}×{side}", side**2, one, two, f"{two.median / one.median:.2f}×")
    columns = ("model", "unknowns", "one thread", "two threads", "gain")
    return Table(f"Threads, {lanes} lanes", columns, [row])


def main() -> None:
    """Updates per second of every model."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--lanes", type=int, default=LANES)
    options.add_argument("--seconds", type=float, default=0.4)
    given = options.parse_args()
    settings = Settings(seconds=given.seconds)
    for one in kernel_models(quick=False):
        print(f"{one.name:34} {updates(one.make(), settings, given.lanes, given.threads)}", flush=True)


if __name__ == "__main__":
    main()
