"""Probabilities by other tools' samplers; knows nothing of plx, so that any interpreter can run it.

``python sampling_rival_runs.py MODEL.json SECONDS RUNS TOOL`` prints one JSON object: ``tool``, ``version``,
``how``, and ``settings``, for each of which ``found`` [runs, answers] and ``seconds`` of CPU for a run; or
``why`` there are none. The model: ``pairs`` [a, b, J], ``fields`` and ``colour`` of a graph of two colours,
of spins ±1; or ``nodes`` [parents, probabilities of 1, the last parent fastest] and ``seen`` [node, state].
``asked``: unknowns that are 1, or pairs that agree. Compiling does not count.
"""

import contextlib
import importlib.metadata
import json
import os
import sys
import time


class CannotRun(Exception):
    """What keeps a tool from a model."""


def repeated(one, seconds, runs):
    """``one(seed)`` gives sums over draws and how many these are; called until the time is over, each run."""
    import numpy as np

    found, begin = [], time.process_time()
    for run in range(runs):
        start, sums, draws, part = time.process_time(), 0.0, 0.0, 0
        while draws == 0 or time.process_time() - start < seconds:
            more, n = one(10_000 * run + part)
            sums, draws, part = sums + np.asarray(more), draws + n, part + 1
        found.append((sums / draws).tolist())
    return {"found": found, "seconds": (time.process_time() - begin) / runs}


def answers(spins, asked):
    """How many rows of spins ±1 have what is asked for."""
    import numpy as np

    return np.array(
        [(spins[:, one[0]] * (spins[:, one[1]] if len(one) > 1 else 1) > 0).sum() for one in asked]
    )


def dwave(model, seconds, runs):
    """simulated annealing, Gibbs updates, β rising from 0 to 1 in the first half; the best of 100, 1,000 and
    10,000 sweeps."""
    import dimod
    import numpy as np
    from dwave.samplers import SimulatedAnnealingSampler

    if "pairs" not in model:
        raise CannotRun("Ising models only")
    fields = {i: -h for i, h in enumerate(model["fields"])}
    ising = dimod.BinaryQuadraticModel.from_ising(fields, {(a, b): -j for a, b, j in model["pairs"]})
    order = [list(ising.variables).index(i) for i in range(len(fields))]

    def of(sweeps):
        beta = np.minimum(1.0, np.arange(1, sweeps + 1) / (sweeps / 2))

        def one(seed):
            reads = max(1, 6400 // sweeps)
            drawn = SimulatedAnnealingSampler().sample(
                ising,
                num_reads=reads,
                beta_schedule_type="custom",
                beta_schedule=beta.tolist(),
                num_sweeps_per_beta=1,
                proposal_acceptance_criteria="Gibbs",
                seed=seed + 1,
            )
            rows = np.repeat(drawn.record.sample, drawn.record.num_occurrences, axis=0)
            return answers(rows[:, order].astype(int), model["asked"]), reads

        return repeated(one, seconds, runs)

    return [of(sweeps) for sweeps in (100, 1_000, 10_000)]


def log_weight(model):
    """The log weight of a world of spins ±1 as a function for jax."""
    import jax.numpy as jnp
    import numpy as np

    if "pairs" in model:
        a, b, j = (np.array(column) for column in zip(*model["pairs"], strict=True))
        fields = np.array(model["fields"])
        return lambda spins: jnp.sum(j * spins[a] * spins[b]) + jnp.sum(fields * spins)
    two = [(i, parents, p) for i, (parents, p) in enumerate(model["nodes"]) if parents]
    child, parents = np.array([i for i, _, _ in two]), np.array([parents for _, parents, _ in two])
    table = np.array([p for _, _, p in two])
    roots = np.array([i for i, (parents, _) in enumerate(model["nodes"]) if not parents])
    alone = np.array([p[0] for parents, p in model["nodes"] if not parents])
    seen = dict(map(tuple, model["seen"]))

    def of(spins):
        for node, state in seen.items():
            spins = spins.at[node].set(2 * state - 1)
        up = spins > 0
        p = jnp.take_along_axis(table, (up[parents] @ np.array([2, 1]))[:, None], axis=1)[:, 0]
        given = jnp.sum(jnp.log(jnp.where(up[child], p, 1 - p)))
        return given + jnp.sum(jnp.log(jnp.where(up[roots], alone, 1 - alone)))

    return of


def blackjax(model, seconds, runs):
    """adaptive tempered SMC of 64 particles, target ESS 0.9, moved by 10 sweeps of a Gibbs kernel that was
    written for this (two colours, conditionals by jax.grad)."""
    from typing import Any, NamedTuple

    import blackjax
    import jax
    import jax.numpy as jnp
    import numpy as np

    if "pairs" not in model:
        raise CannotRun("needs a kernel for each kind of model: written here for Ising models")
    weight, colour, particles = log_weight(model), np.array(model["colour"]), 64

    class State(NamedTuple):
        position: Any

    def sweep(key, state, log_density):
        spins = state.position
        for which, part in enumerate(jax.random.split(key)):
            up = jax.nn.sigmoid(2 * jax.grad(log_density)(spins))
            drawn = jnp.where(jax.random.uniform(part, spins.shape) < up, 1.0, -1.0)
            spins = jnp.where(colour == which, drawn, spins)
        return State(spins), ()

    smc = blackjax.adaptive_tempered_smc(
        lambda spins: 0.0 * jnp.sum(spins),
        weight,
        sweep,
        lambda position, log_density: State(position),
        {},
        blackjax.smc.resampling.systematic,
        0.9,
        num_mcmc_steps=10,
    )
    step = jax.jit(smc.step)

    def one(seed):
        key, first = jax.random.split(jax.random.key(seed))
        begin = jax.random.bernoulli(first, 0.5, (particles, len(colour))) * 2.0 - 1.0
        state = smc.init(begin)
        while float(state.tempering_param) < 1:
            key, now = jax.random.split(key)
            state, _ = step(now, state)
        worth = np.asarray(state.weights) * particles
        spins = np.asarray(state.particles)
        each = [answers(spins[[i]], model["asked"]) * worth[i] for i in range(particles)]
        return np.sum(each, axis=0), particles

    one(0)
    return [repeated(one, seconds, runs)]


def numpyro(model, seconds, runs):
    """DiscreteGibbs, one chain; the first quarter of a run dropped."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    import numpyro
    from numpyro import distributions as dist
    from numpyro.infer import DiscreteGibbs

    weight, size = log_weight(model), len(model.get("colour", model.get("nodes")))

    def program():
        with numpyro.plate("unknowns", size):
            x = numpyro.sample("x", dist.Bernoulli(0.5))
        numpyro.factor("weight", weight(2.0 * x - 1))

    kernel = DiscreteGibbs(program)
    asked = [(one[0], one[-1], len(one)) for one in model["asked"]]

    @jax.jit
    def some(state):
        def body(state, _):
            state = kernel.sample(state, (), {})
            s = 2 * state.z["x"] - 1
            return state, jnp.array([s[a] * (s[b] if n > 1 else 1) > 0 for a, b, n in asked])

        state, seen = jax.lax.scan(body, state, length=8)
        return state, seen.sum(axis=0)

    def begun(seed):
        return kernel.init(jax.random.PRNGKey(seed), 0, None, (), {})

    jax.block_until_ready(some(begun(0)))
    found, begin = [], time.process_time()
    for run in range(runs):
        state, start, kept = begun(run), time.process_time(), []
        while len(kept) < 4 or time.process_time() - start < seconds:
            state, sums = some(state)
            kept.append(np.asarray(sums))
        late = kept[len(kept) // 4 :]
        found.append((np.sum(late, axis=0) / (8 * len(late))).tolist())
    return [{"found": found, "seconds": (time.process_time() - begin) / runs}]


def pyagrum(model, seconds, runs):
    """GibbsSampling, one chain, every node in each iteration, 100 of which are dropped; couplings are
    children that are seen."""
    import math

    import pyagrum as gum

    if any(len(one) > 1 for one in model["asked"]):
        raise CannotRun("answers about single unknowns only")
    net, seen = gum.BayesNet(), {}
    if "pairs" in model:
        for i, field in enumerate(model["fields"]):
            net.add(gum.LabelizedVariable(f"x{i}", "", 2))
            p = 1 / (1 + math.exp(-2 * field))
            net.cpt(f"x{i}").fillWith([1 - p, p])
        for e, (a, b, j) in enumerate(model["pairs"]):
            net.add(gum.LabelizedVariable(f"e{e}", "", 2))
            net.addArc(f"x{a}", f"e{e}")
            net.addArc(f"x{b}", f"e{e}")
            for s in range(2):
                for t in range(2):
                    p = math.exp((j if s == t else -j) - abs(j))
                    net.cpt(f"e{e}")[{f"x{a}": s, f"x{b}": t}] = [1 - p, p]
            seen[f"e{e}"] = 1
        drawn = len(model["fields"])
    else:
        for i, (parents, _) in enumerate(model["nodes"]):
            net.add(gum.LabelizedVariable(f"x{i}", "", 2))
            for parent in parents:
                net.addArc(f"x{parent}", f"x{i}")
        for i, (parents, p) in enumerate(model["nodes"]):
            if not parents:
                net.cpt(f"x{i}").fillWith([1 - p[0], p[0]])
            for k, one in enumerate(p if parents else []):
                net.cpt(f"x{i}")[{f"x{parents[0]}": k // 2, f"x{parents[1]}": k % 2}] = [1 - one, one]
        seen = {f"x{i}": state for i, state in model["seen"]}
        drawn = len(model["nodes"]) - len(seen)
    found, begin = [], time.process_time()
    for run in range(runs):
        gum.initRandom(run + 1)
        sampler = gum.GibbsSampling(net)
        sampler.setEvidence(seen)
        sampler.setBurnIn(100)
        sampler.setNbrDrawnVar(drawn)
        sampler.setEpsilon(1e-12)
        sampler.setMinEpsilonRate(1e-12)
        sampler.setMaxIter(10**8)
        sampler.setMaxTime(max(seconds, 0.1))
        sampler.makeInference()
        found.append([float(sampler.posterior(f"x{one[0]}")[1]) for one in model["asked"]])
    return [{"found": found, "seconds": (time.process_time() - begin) / runs}]


TOOLS = {"dwave-samplers": dwave, "blackjax": blackjax, "numpyro": numpyro, "pyAgrum": pyagrum}


def main(path, seconds, runs, tool):
    """Run one tool on one model."""
    function = TOOLS[tool]
    answer = {"tool": tool, "version": None, "how": " ".join(function.__doc__.split())}
    try:
        answer["version"] = importlib.metadata.version(tool)
    except importlib.metadata.PackageNotFoundError:
        return {**answer, "why": "not installed"}
    with open(path) as file:  # noqa: PTH123 (this file reads no more than it must)
        model = json.load(file)
    try:
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):  # noqa: PTH123
            answer["settings"] = function(model, float(seconds), int(runs))
    except CannotRun as reason:
        answer["why"] = str(reason)
    return answer


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(*sys.argv[1:])) + "\n")
