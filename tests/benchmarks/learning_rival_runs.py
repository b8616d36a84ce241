"""Weights learned by other tools; knows nothing of plx, so that any interpreter can run it.

``python learning_rival_runs.py TASK.json TOOL`` prints one JSON object: ``version``, ``seconds`` of CPU
time from the data to the weights, and ``values``, one for each rule (for problog: for each cause); or
``why`` there are none. The task: ``mln`` and ``databases`` are files, ``target`` is the predicate that is
predicted, ``deviation`` that of the normal prior, ``rules`` how many there are. ``graphs``, one for each
database, have ``seen``, the truth of each atom of the target, and how the rules count given all other
predicates: ``single``, a list of [rule, atom, times], ``pairs``, of [rule, atom, atom, times]. ``causes``
are lists of rules, negative if they must not count; 0 is the first rule, which always does.
"""

import contextlib
import importlib.metadata
import json
import os
import sys
import time
import warnings


def pracmln(task):
    """The pseudo-likelihood of the target by BFGS (DBPLL_CG), as its own tool calls it."""
    from pracmln import MLN, Database
    from pracmln.mlnlearn import MLNLearn

    begin = time.process_time()
    network = MLN(mlnfile=task["mln"], grammar="StandardGrammar", logic="FirstOrderLogic")
    data = [Database.load(network, dbfiles=path)[0] for path in task["databases"]]
    learned = MLNLearn(
        mln=network,
        db=data,
        method="DBPLL_CG",
        qpreds=task["target"],
        discr_preds=0,
        use_prior=True,
        prior_mean=0.0,
        prior_stdev=task["deviation"],
    ).run()
    return [float(formula.weight) for formula in learned.formulas], time.process_time() - begin


def numbskull(task):
    """Stochastic gradients along one Gibbs chain: 200 epochs, steps from 0.01 down to 0.0001."""
    import numpy as np
    from numbskull import NumbSkull
    from numbskull.inference import FACTORS
    from numbskull.numbskulltypes import Factor, FactorToVar, Variable, Weight

    seen, rows, at = [], [], 0  # its ISTRUE and AND are -1 or 1, so that they count half
    for graph in task["graphs"]:
        rows += [(FACTORS["ISTRUE"], k, n / 2, [v + at]) for k, v, n in graph["single"]]
        rows += [(FACTORS["AND"], k, n / 2, [a + at, b + at]) for k, a, b, n in graph["pairs"]]
        seen += graph["seen"]
        at = len(seen)

    def learn(epochs):
        weight = np.zeros(task["rules"], Weight)
        variable = np.zeros(len(seen), Variable)
        variable["isEvidence"], variable["cardinality"], variable["initialValue"] = 1, 2, seen
        factor = np.zeros(len(rows), Factor)
        factor["factorFunction"], factor["weightId"] = [row[0] for row in rows], [row[1] for row in rows]
        factor["featureValue"], factor["arity"] = [row[2] for row in rows], [len(row[3]) for row in rows]
        factor["ftv_offset"] = np.cumsum(factor["arity"]) - factor["arity"]
        edge = np.zeros(int(factor["arity"].sum()), FactorToVar)
        edge["vid"] = [v for row in rows for v in row[3]]
        sampler = NumbSkull(quiet=True)
        sampler.loadFactorGraph(weight, variable, factor, edge, np.zeros(len(seen), np.bool_), len(edge))
        graph = sampler.factorGraphs[0]
        graph.learn(0, epochs, 0.01, 0.01 ** (1 / max(epochs, 2)), 0, 0.0, 1)
        return graph.weight_value[0].tolist()

    learn(1)  # its kernels are compiled
    np.random.seed(1)
    begin = time.process_time()
    return learn(200), time.process_time() - begin


def problog(task):
    """EM (LFI) of a noisy-or: every cause whose rules count may make an atom true, by itself."""
    from problog.learning.lfi import LFIProblem
    from problog.logic import Term
    from problog.program import PrologString

    begin = time.process_time()
    features = range(1, task["rules"])
    text = [f"0.5::f{k}." for k in features]
    for number, cause in enumerate(task["causes"]):
        body = [f"f{k}" if k > 0 else f"\\+f{-k}" for k in cause if k]
        text += [f"t(_)::c{number}.", f"target :- {', '.join([*body, f'c{number}'])}."]
    examples = []
    for graph in task["graphs"]:
        counts = [set() for _ in graph["seen"]]
        for k, v, _ in graph["single"]:
            counts[v].add(k)
        for seen, mine in zip(graph["seen"], counts):  # noqa: B905 (Python 3.8 knows no strict=)
            example = [(Term(f"f{k}"), k in mine) for k in features]
            examples.append([*example, (Term("target"), bool(seen))])
    lfi = LFIProblem(PrologString("\n".join(text)), examples, max_iter=200, min_improv=1e-3)
    lfi.run()
    values = {str(name): dict(lfi.get_weights(i)) for i, name in enumerate(lfi.names)}
    found = [next(iter(values[name].values())) for name in sorted(values) if "c" in name]
    return [float(value) for value in found], time.process_time() - begin


TOOLS = {"pracmln": pracmln, "numbskull": numbskull, "problog": problog}


def main(path, tool):
    """Run one tool on one task."""
    answer = {"tool": tool, "version": None}
    try:
        answer["version"] = importlib.metadata.version(tool)
    except importlib.metadata.PackageNotFoundError:
        return dict(answer, why="not installed")
    warnings.simplefilter("ignore")
    with open(path) as file:  # noqa: PTH123 (this file reads no more than it must)
        task = json.load(file)
    try:
        values, seconds = TOOLS[tool](task)
    except Exception as error:  # whatever another tool does, the run goes on
        return dict(answer, why=f"fails: {error!r}"[:80])
    return dict(answer, values=values, seconds=seconds)


if __name__ == "__main__":
    with open(os.devnull, "w") as void, contextlib.redirect_stdout(void):  # noqa: PTH123
        found = main(*sys.argv[1:])
    print(json.dumps(found))
