"""Learning where it was promised to be fast: a field of Ising, and a million ground instances.

``python -m tests.benchmarks.stochastic [field] [instances]`` prints what each took, in seconds of CPU time.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

import plx
from plx.graph.model import GroundModel
from plx.learn.fit import fit
from plx.learn.lanes import Lanes
from plx.learn.numbers import Learned, numbers_of
from plx.learn.pseudo import Pseudo
from plx.learn.worlds import World
from plx.learning import world_of

FIELD = """
type R = 1..{n}
random s(R, R)
learn field ~ flat
learn pull ~ flat
weight field: s(x, y) for x, y in R
weight pull: s(x, y) <=> s(x + 1, y) for x, y in R if x < {n}
weight pull: s(x, y) <=> s(x, y + 1) for x, y in R if y < {n}
"""
TRUTH = np.array([0.1, 0.5])


def field(n: int) -> tuple[plx.Model, GroundModel, list[Learned]]:
    """A square field of n · n spins, each pulled to be as its neighbours."""
    model = plx.compile(FIELD.format(n=n))
    return model, model.origin.unfitted(()), numbers_of([model.origin.program])


def simulated(
    free: GroundModel, names: tuple[str, ...], truth: np.ndarray, count: int, seed: int
) -> np.ndarray:
    """Worlds drawn at these numbers, shape (V, count), by lanes of their own."""
    lanes = Lanes(free, names, seed, lanes=count)
    lanes.set(truth)
    lanes.burn(1000)
    return lanes.states


def as_data(states: np.ndarray, n: int) -> list[dict[str, object]]:
    """Complete worlds as bindings, one for each column of states."""
    fields = states.T.reshape(-1, n, n)
    return [{"s": plx.Else((np.argwhere(one) + 1).tolist(), False)} for one in fields]


def timed(work: Callable[[], object], times: int = 1) -> float:
    """CPU seconds of one of several calls."""
    begin = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - begin) / times


def ising(n: int = 50, count: int = 500) -> dict[str, str]:
    """A field of n · n spins and so many worlds of it: where a fit ends, and what it takes."""
    model, free, learned = field(n)
    names = tuple(one.name for one in learned)
    states = simulated(free, names, TRUTH, count, seed=1)
    data: list[World] = []
    out = {"worlds": f"{count:,} of {n}x{n} spins"}
    begin = time.process_time()
    for world in as_data(states, n):
        data.append(world_of(model.bind(**world).origin, ()))
    out["reading and grounding"] = f"{time.process_time() - begin:.1f} s"
    begin, clock = time.process_time(), time.perf_counter()
    found = fit(data, learned, "stochastic")
    out["fit"] = f"{time.process_time() - begin:.1f} s of CPU time, {time.perf_counter() - clock:.1f} s"
    z = (found.estimates.value - TRUTH) / found.estimates.error
    out["distance to the truth in standard errors"] = ", ".join(f"{abs(one):.2f}" for one in z)
    out["end"] = found.reason
    return out


def instances(n: int = 580) -> dict[str, str]:
    """A million ground instances: what one gradient takes of each objective, and one sweep."""
    _, free, learned = field(n)
    names = tuple(one.name for one in learned)
    lanes = Lanes(free, names, seed=1)
    lanes.set(TRUTH)
    lanes.burn(20)
    lanes.statistics()
    out = {"ground instances": f"{free.graph.n_factors:,}", "lanes": f"{lanes.states.shape[1]}"}
    sweep = timed(lambda: lanes.burn(5), 3) / 5
    out["one sweep of all lanes"] = f"{1000 * sweep:.0f} ms"
    out["the sweeps of one draw"] = f"{1000 * sweep * lanes.thin:.0f} ms ({lanes.thin} of them)"
    out["the statistics of one draw"] = f"{1000 * timed(lanes.statistics, 5):.0f} ms"
    out["other numbers in the tables"] = f"{1000 * timed(lambda: lanes.set(TRUTH), 5):.1f} ms"
    values = free.values.ids((False, True))
    atoms = free.atoms
    fixed = values[lanes.states[:, 0]]
    seen = replace(free, atoms=replace(atoms, fixed=fixed, node=np.full(len(fixed), -1, dtype=np.int32)))
    world = World(free, seen)
    begin = time.process_time()
    pseudo = Pseudo([world], names)
    out["grouping of the pseudo-likelihood"] = f"{time.process_time() - begin:.1f} s"
    out["groups"] = f"{pseudo.n_groups:,}"
    out["one gradient of the pseudo-likelihood"] = f"{1000 * timed(lambda: pseudo(TRUTH), 100):.3f} ms"
    return out


def main() -> None:
    """Print what was asked for, or all."""
    asked = sys.argv[1:] or ["field", "instances"]
    for name, work in (("field", ising), ("instances", instances)):
        if name in asked:
            for key, value in work().items():
                print(f"{key}: {value}")


if __name__ == "__main__":
    main()
