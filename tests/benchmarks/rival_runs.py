"""Gibbs sampling by other tools; knows nothing of plx, so that any interpreter can run it.

``python rival_runs.py MODEL.json SECONDS REPEATS TOOL`` prints one JSON object: ``tool``, ``version``
and ``updates`` (a list of updates of single unknowns per second), or ``why`` there is no figure. The
model: ``cards``; ``equal``, a list of [a, b, weight] for pairs that like to agree; ``all``, a list of
[weight, [[unknown, state], …]] for conjunctions.
"""

import contextlib
import importlib.metadata
import json
import math
import os
import sys
import time


class CannotRun(Exception):
    """What keeps a tool from a model."""


def numbskull(model, seconds, repeats):
    """numbskull 0.1.1, its compiled Gibbs kernel on one thread."""
    import numpy as np
    from numbskull import NumbSkull
    from numbskull.inference import FACTORS
    from numbskull.numbskulltypes import Factor, FactorToVar, Variable, Weight

    rows = [(FACTORS["EQUAL_CAT_CONST"], w, literals) for w, literals in model["all"]]
    if set(model["cards"]) == {2}:  # EQUAL counts ±1, for Boolean unknowns alone
        rows += [(FACTORS["EQUAL"], w / 2, [(a, 0), (b, 0)]) for a, b, w in model["equal"]]
    else:
        rows += [
            (FACTORS["EQUAL_CAT_CONST"], w, [(a, k), (b, k)])
            for a, b, w in model["equal"]
            for k in range(model["cards"][a])
        ]
    weights, weight_of = np.unique([w for _, w, _ in rows], return_inverse=True)
    weight = np.zeros(len(weights), Weight)
    weight["isFixed"], weight["initialValue"] = True, weights
    variable = np.zeros(len(model["cards"]), Variable)
    variable["cardinality"] = model["cards"]
    variable["dataType"] = np.array(model["cards"]) > 2
    factor = np.zeros(len(rows), Factor)
    factor["factorFunction"], factor["weightId"] = [f for f, _, _ in rows], weight_of
    factor["arity"] = [len(literals) for _, _, literals in rows]
    factor["ftv_offset"], factor["featureValue"] = np.cumsum(factor["arity"]) - factor["arity"], 1
    edge = np.zeros(int(factor["arity"].sum()), FactorToVar)
    edge["vid"], edge["dense_equal_to"] = np.array([x for _, _, part in rows for x in part]).T
    sampler = NumbSkull(quiet=True)
    none = np.zeros(len(variable), np.bool_)
    sampler.loadFactorGraph(weight, variable, factor, edge, none, len(edge))
    graph = sampler.factorGraphs[0]
    graph.inference(0, 1)
    return rates(lambda n: graph.inference(0, n), len(variable), seconds, repeats)


def dwave(model, seconds, repeats):
    """dwave-samplers, simulated annealing held at one temperature, Gibbs updates in order."""
    import dimod
    from dwave.samplers import SimulatedAnnealingSampler

    if model["all"] or set(model["cards"]) != {2}:
        raise CannotRun("Ising models only")
    pairs = {(a, b): -w / 2 for a, b, w in model["equal"]}
    ising = dimod.BinaryQuadraticModel.from_ising({}, pairs)

    def work(n):
        SimulatedAnnealingSampler().sample(
            ising,
            num_reads=64,
            beta_schedule_type="custom",
            beta_schedule=[1.0] * n,
            num_sweeps_per_beta=1,
            proposal_acceptance_criteria="Gibbs",
            seed=1,
        )

    return rates(work, 64 * len(model["cards"]), seconds, repeats)


def pyagrum(model, seconds, repeats):
    """pyAgrum, GibbsSampling: a Bayesian network with one observed child for every pair."""
    import pyagrum as gum

    if model["all"] or len(model["cards"]) > 100:
        raise CannotRun("tried on the 10×10 grid: one sweep of 50×50 takes it 16 s")
    net = gum.BayesNet()
    for i, card in enumerate(model["cards"]):
        net.add(gum.LabelizedVariable(f"x{i}", "", card))
        net.cpt(f"x{i}").fillWith(1.0 / card)
    for e, (a, b, w) in enumerate(model["equal"]):
        net.add(gum.LabelizedVariable(f"e{e}", "", 2))
        net.addArc(f"x{a}", f"e{e}")
        net.addArc(f"x{b}", f"e{e}")
        for s in range(model["cards"][a]):
            for t in range(model["cards"][b]):
                p = 1.0 if s == t else math.exp(-w)
                net.cpt(f"e{e}")[{f"x{a}": s, f"x{b}": t}] = [1 - p, p]
    found = []
    for _ in range(repeats):
        sampler = gum.GibbsSampling(net)
        sampler.setEvidence({f"e{e}": 1 for e in range(len(model["equal"]))})
        sampler.setBurnIn(0)
        sampler.setNbrDrawnVar(len(model["cards"]))
        sampler.setEpsilon(1e-12)
        sampler.setMinEpsilonRate(1e-12)
        sampler.setMaxIter(10**8)
        sampler.setMaxTime(max(seconds, 0.1))
        begin = time.perf_counter()
        sampler.makeInference()
        spent = time.perf_counter() - begin
        found.append(sampler.nbrIterations() * len(model["cards"]) / spent)
    return found


def pgmpy(model, seconds, repeats):
    """pgmpy, GibbsSampling."""
    import numpy as np
    from pgmpy.factors.discrete import DiscreteFactor
    from pgmpy.models import DiscreteMarkovNetwork
    from pgmpy.sampling import GibbsSampling

    if model["all"] or len(model["cards"]) > 9:
        raise CannotRun("tried on the 3×3 grid: it tabulates the states of all other unknowns")
    net = DiscreteMarkovNetwork([(f"x{a}", f"x{b}") for a, b, _ in model["equal"]])
    for a, b, w in model["equal"]:
        table = np.exp(w * np.eye(model["cards"][a]))
        net.add_factors(DiscreteFactor([f"x{a}", f"x{b}"], list(table.shape), table.ravel()))
    sampler = GibbsSampling(net)
    return rates(lambda n: sampler.sample(size=n + 1, seed=1), len(model["cards"]), seconds, repeats)


def rates(work, unit, seconds, repeats):
    """Units per second of ``work(n)``, which does ``n * unit``."""
    n, spent = 1, 0.0
    while spent < seconds / 2:
        n *= 2
        begin = time.perf_counter()
        work(n)
        spent = time.perf_counter() - begin
    found = [n * unit / spent]
    for _ in range(repeats - 1):
        begin = time.perf_counter()
        work(n)
        found.append(n * unit / (time.perf_counter() - begin))
    return found


TOOLS = {
    "numbskull": ("numbskull", numbskull),
    "dwave-samplers": ("dwave-samplers", dwave),
    "pyAgrum": ("pyAgrum", pyagrum),
    "pgmpy": ("pgmpy", pgmpy),
}


def main(path, seconds, repeats, tool):
    """Run one tool on one model."""
    package, function = TOOLS[tool]
    answer = {"tool": tool, "version": None}
    try:
        answer["version"] = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return {**answer, "why": "not installed"}
    with open(path) as file:  # noqa: PTH123 (this file reads no more than it must)
        model = json.load(file)
    try:
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):  # noqa: PTH123
            answer["updates"] = function(model, float(seconds), int(repeats))
    except CannotRun as reason:
        answer["why"] = str(reason)
    except Exception as mistake:  # a tool that fails is a result
        answer["why"] = f"{type(mistake).__name__}: {str(mistake).strip().splitlines()[:1]}"
    return answer


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(*sys.argv[1:])) + "\n")
