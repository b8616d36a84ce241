"""What a program grounded to: sizes per rule, and every variable and factor by name."""

from __future__ import annotations

import csv
import io
import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from plx.answer.numbers import count_text
from plx.graph.model import GroundModel, GroundRule, GroundStep
from plx.numerals import readable
from plx.values import IMPOSSIBLE
from plx.weights import shown

if TYPE_CHECKING:
    from rich.table import Table

    from plx.ground.budget import RuleSize
    from plx.infer.outlook import Outlook

_RULE_COLUMNS = ("line", "kind", "rule", "instances", "factors", "bytes", "seconds")


def to_dict(model: GroundModel) -> dict[str, Any]:
    """Counts of the whole, and per rule its ground instances, factors, bytes and seconds."""
    graph = model.graph
    return {
        "variables": graph.n_variables,
        "observed": int((model.atoms.node < 0).sum()),
        "derived": graph.n_derived,
        "factors": graph.n_factors,
        "tables": graph.n_tables,
        "states": [int(x) for x in np.bincount(graph.card[: graph.n_variables])],
        "bytes": sum(array.nbytes for array in graph if isinstance(array, np.ndarray)),
        "seconds": sum(rule.seconds for rule in model.rules),
        "queries": len(model.queries),
        "rules": [
            {**_rule_dict(rule), "steps": [_step_dict(step) for step in rule.steps]} for rule in model.rules
        ],
    }


def _rule_dict(rule: GroundRule) -> dict[str, Any]:
    line = rule.span.line if rule.span else None
    cells = (line, rule.kind, rule.text, rule.instances, rule.factors, rule.bytes, rule.seconds)
    return dict(zip(_RULE_COLUMNS, cells, strict=True))


def _step_dict(step: GroundStep) -> dict[str, Any]:
    return {"binding": step.binding, "on": list(step.on), "rows": step.rows}


def to_json(model: GroundModel, ahead: Iterable[tuple[Sequence[int], Outlook]] = ()) -> str:
    """The report as JSON text. ``states[k]`` is the number of variables with k states; ``ahead`` is how the
    queries at some positions would be answered."""
    answered = [{"queries": list(positions), **asdict(found)} for positions, found in ahead]
    return json.dumps({**to_dict(model), "answered": answered}, ensure_ascii=False, indent=2) + "\n"


def to_csv(model: GroundModel) -> str:
    """One row per rule, with a header."""
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=_RULE_COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(_rule_dict(rule) for rule in model.rules)
    return out.getvalue()


def table(model: GroundModel) -> Table:
    """The rules as a Rich table."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    out = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in HEADINGS:
        out.add_column(name, justify="left" if name == "rule" else "right", overflow="fold")
    for row in rule_rows(model.rules):
        out.add_row(*map(escape, row))
    return out


HEADINGS = ("line", "rule", "instances", "factors", "memory", "seconds")


def rule_rows(rules: Iterable[GroundRule]) -> Iterator[tuple[str, ...]]:
    """The rows of a table of rules, those of the joins of each below it."""
    for rule in rules:
        yield (
            str(rule.span.line) if rule.span else "",
            readable(rule.text),
            count_text(rule.instances),
            count_text(rule.factors),
            bytes_text(rule.bytes),
            f"{rule.seconds:.3f}",
        )
        for step in rule.steps if any(step.on for step in rule.steps) else ():
            yield "", readable(f"  {_step_text(step)}"), count_text(step.rows), "", "", ""


def _step_text(step: GroundStep) -> str:
    return f"{step.binding} joined on {', '.join(step.on)}" if step.on else step.binding


def summary(model: GroundModel) -> str:
    """The whole in two lines."""
    report = to_dict(model)
    states = enumerate(report["states"])
    sizes = ", ".join(f"{count_text(count)} of {k} states" for k, count in states if count)
    counts = {
        name: count_text(report[name]) for name in ("variables", "observed", "factors", "tables", "derived")
    }
    return (
        f"{counts['variables']} variables ({sizes or 'none'}), {counts['observed']} observed\n"
        f"{counts['factors']} factors over {counts['tables']} tables, {counts['derived']} derived nodes, "
        f"{bytes_text(report['bytes'])}, {report['seconds']:.2f} s"
    )


def not_needed(reason: str, sizes: Sequence[RuleSize]) -> Table:
    """What a grounding would be that is not needed to answer: sizes per rule, as a Rich table."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    out = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in ("line", "rule", "instances", "memory"):
        out.add_column(name, justify="left" if name == "rule" else "right", overflow="fold")
    for size in sizes:
        text = readable(" ".join(size.span.text.split()))
        count, memory = count_text(size.instances), bytes_text(size.bytes)
        out.add_row(*map(escape, (str(size.span.line), text, count, memory)))
    out.caption = f"grounding is not needed: {reason.removeprefix('not grounded: ')}"
    out.caption_justify = "left"
    return out


def bytes_text(count: int) -> str:
    """A number of bytes to read: ``1.2 MB``."""
    size = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"


# ------------------------------------------------------------------------- dump


def dump(model: GroundModel) -> Iterator[str]:
    """Every variable, observation, derived node and factor by name, one line each and one per table entry."""
    return map(readable, _dumped(model))


def _dumped(model: GroundModel) -> Iterator[str]:
    names = _node_names(model)
    yield from _dump_variables(model, names)
    yield from _dump_derived(model, names)
    for factor in range(model.graph.n_factors):
        yield from _dump_factor(model, names, factor)
    yield f"constant {_log_weight(model, model.constant_weight)}"


def _node_names(model: GroundModel) -> list[str]:
    variables = [model.atoms.name(int(atom)) for atom in model.atoms.atom_of]
    return variables + [f"#{d + 1}" for d in range(model.graph.n_derived)]


def _dump_variables(model: GroundModel, names: list[str]) -> Iterator[str]:
    atoms = model.atoms
    for node in range(model.graph.n_variables):
        states = (atoms.value_name(int(value)) for value in atoms.states(node))
        yield f"variable {names[node]}: {' '.join(states)}"
    for atom in np.flatnonzero(atoms.node < 0):
        yield f"observed {atoms.name(int(atom))} = {atoms.value_name(int(atoms.fixed[atom]))}"


def _dump_derived(model: GroundModel, names: list[str]) -> Iterator[str]:
    graph = model.graph
    for d in range(graph.n_derived):
        nodes, vectors = graph.inputs_of(d)
        terms = (
            f"{names[node]}[{' '.join(map(str, graph.contribution_of(int(vector))))}]"
            for node, vector in zip(nodes, vectors, strict=True)
        )
        output = " ".join(map(str, graph.output_map(d)))
        yield f"derived {names[graph.n_variables + d]}: {' + '.join(terms)} -> {output}"


def _dump_factor(model: GroundModel, names: list[str], factor: int) -> Iterator[str]:
    graph = model.graph
    scope = graph.scope_of(factor)
    rule = model.rules[graph.rule_of[factor]]
    place = f"line {rule.span.line}: " if rule.span else ""
    yield f"factor ({', '.join(names[node] for node in scope)})  # {place}{rule.text}"
    states = itertools.product(*(_state_names(model, int(node)) for node in scope))
    for state, weight in zip(states, graph.table_weights(factor).ravel().tolist(), strict=True):
        yield f"  {' '.join(state)}: {_log_weight(model, weight)}"


def _log_weight(model: GroundModel, weight: int) -> str:
    """A log weight to ten digits; one past the range of doubles as the number that it is."""
    found = float(model.values.floats(np.array([weight]))[0])
    if weight != IMPOSSIBLE and np.isinf(found):
        return shown(model.values[weight])  # type: ignore[arg-type]
    return f"{found:.10g}"


def _state_names(model: GroundModel, node: int) -> list[str]:
    if node < model.graph.n_variables:
        return [model.atoms.value_name(int(value)) for value in model.atoms.states(node)]
    return [str(state) for state in range(model.graph.card[node])]
