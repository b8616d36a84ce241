"""The functions of ``import plx``: from text or a file to a model, and from there to answers."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from plx.building import build
from plx.errors import Diagnostic
from plx.model import Model
from plx.reading import is_network, is_translated, read_network, read_program, read_translated
from plx.source import Source

if TYPE_CHECKING:
    from plx.answer.result import Result
    from plx.infer.compare.curves import Comparison
    from plx.infer.options import Report
    from plx.learn.score import Score
    from plx.values import FloatArray

OPTIONS: Mapping[str, object] = Model.run.__kwdefaults__ or {}
"""The options of ``run``, and what each is if it is left out."""


def compile(text: str, /, **bindings: object) -> Model:
    """The model of a program given as text.

    ``bindings`` give types, params, relations and observations by name: lists, dicts, sets, numpy arrays,
    pandas or polars frames, the path of a file of data, a ``Database``, or one of these in an ``Else``. They
    override what the program gives. Paths are relative to the working folder.

    Raises PlxError with every mistake in the program and its data.
    """
    return build(Source("program", text), bindings, Path(), options=OPTIONS)


def load(path: str | os.PathLike[str], /, *evidence: str | os.PathLike[str], **bindings: object) -> Model:
    """The model in a file: a program, or by its suffix a network of another tool (.uai, .bif,
    .xmlbif, .net, .fg, .json, .cnf, .wcnf, .mln).

    A program's paths are relative to its file, and ``bindings`` are those of ``compile``. For a network
    they are observed states by the name of the unknown; ``evidence`` are files of observations, for
    networks only. For a Markov logic network (.mln) they are databases, and ``bindings`` are how to read
    it: ``query``, ``weights``, ``world``, ``closed``, ``hidden``, ``dialect``, ``trained``, ``prior``.

    Raises PlxError as ``compile`` does, OSError if a program cannot be read.
    """
    file = Path(path)
    if is_translated(file):
        return read_translated(file, evidence, bindings)
    if is_network(file):
        return read_network(file, [*evidence, *(f"{name}={state}" for name, state in bindings.items())])
    return read_program(str(path), file.read_bytes(), bindings, file.parent, options=OPTIONS)


def convert(
    path: str | os.PathLike[str],
    output: str | os.PathLike[str],
    /,
    *evidence: str | os.PathLike[str],
    **bindings: object,
) -> tuple[Diagnostic, ...]:
    """Write what is in a file as another file, by their suffixes: .plx, .uai, .fg, .cnf, .wcnf, and
    Bayesian networks as .bif, .xmlbif or .net; gives back what to know of it.

    ``evidence`` and ``bindings`` are those of ``load``. Raises PlxError as ``load`` does, CallError for a
    suffix that is not written, OSError if the file cannot be.
    """
    from plx.writing import require_writer, write

    require_writer(Path(path), Path(output))
    model = load(path, *evidence, **bindings)
    return (*model.warnings, *write(model, Path(output)))


def from_pgmpy(model: object, /, **observed: object) -> Model:
    """The model that pgmpy holds in memory, a Bayesian or a Markov network, with observed states by name.

    Raises CallError for another object, PlxError for evidence on what is not there.
    """
    from plx.formats.model_objects import read_pgmpy
    from plx.origin import ForeignNetwork

    return Model(type(model).__name__, ForeignNetwork(read_pgmpy(model, observed)))


def from_pyagrum(model: object, /, **observed: object) -> Model:
    """The model that pyAgrum holds in memory, a ``BayesNet`` or a ``MarkovRandomField``, with observed states
    by name.

    Raises CallError for another object, PlxError for evidence on what is not there.
    """
    from plx.formats.model_objects import read_pyagrum
    from plx.origin import ForeignNetwork

    return Model(type(model).__name__, ForeignNetwork(read_pyagrum(model, observed)))


def from_networkx(
    graph: object,
    /,
    type: str = "Node",
    relation: str = "edge",
    *,
    nodes: Iterable[str] | Mapping[str, str] = (),
    edges: Iterable[str] | Mapping[str, str] = (),
    both: bool = False,
) -> dict[str, object]:
    """A graph of networkx as data for a program: ``plx.compile(text, **plx.from_networkx(graph))``.

    Its nodes are the members of a type, its edges a relation on it: ``type Node``,
    ``relation edge(Node, Node)``. An undirected edge stands once, or, with ``both``, in both directions.
    ``nodes`` and ``edges`` are attributes, or names of params for them: each becomes a param,
    ``param age(Node)`` or ``param strength(Node, Node)``, which is 0 where there is no edge. A node that is
    neither a text nor a whole number is called by its text.

    Raises CallError for what is no graph, for attributes that some nodes or edges lack, for nodes that are
    called alike, and for attributes of parallel edges.
    """
    from plx.data.networkx_graph import bindings_of

    return bindings_of(graph, type, relation, nodes, edges, both)


def run(
    text: str,
    /,
    *,
    method: str = "auto",
    seed: int | None = None,
    chains: int | None = None,
    samples: int | None = None,
    seconds: float | None = None,
    accuracy: float = 0.005,
    draws: int | None = None,
    exact_rationals: bool = False,
    checkpoint: str | os.PathLike[str] | None = None,
    memory: int | str | None = None,
    cluster: str | object | None = None,
    workers: int | None = None,
    progress: bool | Report = False,
    **bindings: object,
) -> Result:
    """``compile(text, **bindings).run(…)`` in one call; the options are those of ``Model.run``.

    A program that itself declares the name of an option, as ``seed``, is given it by ``compile`` only.

    Raises what ``compile`` and ``Model.run`` raise; CallError where an option is given that the program
    declares as well.
    """
    limits = (method, seed, chains, samples, seconds, accuracy, draws, exact_rationals)
    given = (*limits, checkpoint, memory, cluster, workers, progress)
    told = [name for name, value in zip(OPTIONS, given, strict=True) if not _is_usual(name, value)]
    model = build(Source("program", text), bindings, Path(), options=OPTIONS, told=told)
    return model.run(
        method=method,
        seed=seed,
        chains=chains,
        samples=samples,
        seconds=seconds,
        accuracy=accuracy,
        draws=draws,
        exact_rationals=exact_rationals,
        checkpoint=checkpoint,
        memory=memory,
        cluster=cluster,
        workers=workers,
        progress=progress,
    )


def _is_usual(name: str, value: object) -> bool:
    return type(value) is type(OPTIONS[name]) and value == OPTIONS[name]


def resume(
    checkpoint: str | os.PathLike[str],
    /,
    *,
    seconds: float | None = None,
    samples: int | None = None,
    accuracy: float | None = None,
    cluster: str | object | None = None,
    workers: int | None = None,
    progress: bool | Report = False,
) -> Result:
    """Go on with a run that was kept in a file, ``model.run(checkpoint=…)``, and has not come to its end.

    The answers are those of a run that was never interrupted, of as many samples. Options that are not given
    are those of the run, with the seconds that it had left; ``cluster`` and ``workers`` are those of
    ``Model.run``, whether or not the run had any. A checkpoint is a pickle: read only your own.

    Raises PlxError where the file cannot be read, is damaged, was written by another version of plx or
    Python, or is in use by another run; CallError, which is one, where no time is left; Interrupted as
    ``Model.run``.
    """
    from plx.answering import resume as go_on

    if cluster is None and workers is None:
        return go_on(Path(checkpoint), seconds, samples, accuracy, None, progress)
    from plx.cluster.connect import crew

    with crew(cluster, workers) as found:
        return go_on(Path(checkpoint), seconds, samples, accuracy, found, progress)


def compare(
    model: Model,
    methods: Sequence[str],
    *,
    seconds: float = 10.0,
    chains: int = 4,
    lanes: int = 64,
    truth: str | Sequence[FloatArray] = "exact",
    protocol: Literal["sweeps", "paper"] = "sweeps",
    seed: int | None = None,
    cluster: str | object | None = None,
    workers: int | None = None,
    progress: bool | Report = False,
) -> Comparison:
    """How fast the marginals of several samplers approach the truth.

    Every method runs ``chains`` times for ``seconds`` each; a run pools ``lanes`` states that move
    at once. ``truth`` is "exact", "long" (a long run of ``lifted``) or the true marginals, one
    distribution per unknown. With the ``protocol`` "paper" every method but ``lifted`` counts after each
    update of one unknown picked at random, and moves along orbits as often, as the published runs did.
    The workers of a ``cluster``, or so many ``workers``, move the states of each run as those of `Model.run`,
    so that what is measured is what a method makes of them all.
    Raises PlxError where the truth cannot be had; CallError, which is one, for an unknown method and for
    options that make no sense.
    """
    from plx.cluster.connect import crew, require_spread
    from plx.infer.compare.compare import ComparePlan
    from plx.infer.compare.compare import compare as run_all
    from plx.infer.options import checked, drawn_seed
    from plx.progress import watcher

    found = checked(seed=drawn_seed() if seed is None else seed, chains=chains, lanes=lanes, seconds=seconds)
    if cluster is not None or workers is not None:
        for method in methods:
            require_spread(method)
    with crew(cluster, workers) as others, watcher(progress) as report:
        plan = ComparePlan(methods=methods, protocol=protocol, progress=report, cluster=others, **found)
        return run_all(model.name, model.ground, truth, plan)


def score(
    model: Model,
    worlds: Iterable[Mapping[str, object] | str | os.PathLike[str]] | None = None,
    *,
    given: Collection[str] = (),
    method: str = "auto",
    seed: int | None = None,
    seconds: float | None = None,
    others: bool = False,
    progress: bool | Report = False,
) -> Score:
    """``Model.score``: how well a program predicts what is observed. Raises as that does."""
    return model.score(
        worlds, given=given, method=method, seed=seed, seconds=seconds, others=others, progress=progress
    )
