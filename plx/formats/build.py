"""A network of a foreign format with evidence → a ground model that asks for every marginal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress
from typing import Literal

import numpy as np

from plx.errors import Diagnostic, Note, NoWorldError, PlxError
from plx.formats.clauses import LARGEST_TABLE, clause_nodes, clause_table, node_factors
from plx.formats.evidence import plain, variable_name
from plx.formats.network import Clause, FileEvidence, Network, Observed, ObservedNetwork, Table
from plx.graph.assemble import FactorBatch, assemble, unmerged
from plx.graph.model import Atoms, GroundModel, GroundQuery, GroundRule, Target
from plx.values import FALSE, IMPOSSIBLE, TRUE, ZERO, IntArray


def build(observed: ObservedNetwork) -> GroundModel:
    """The ground model of a network: evidence applied, a query for every unobserved variable.

    A `map` query stands last if best worlds are asked for. Raises PlxError for a table that is all
    zero, and for evidence that one table alone forbids; NoWorldError for evidence that several
    tables forbid together, as far as that shows here.
    """
    network, evidence = observed.network, observed.evidence
    cards = np.array(network.cards, dtype=np.int64)
    fixed = np.full(len(cards), -1, dtype=np.int64)
    for item in evidence.observed:
        fixed[item.variable] = item.state
    small, large = _by_size(network.clauses)
    tables = [*network.tables, *evidence.likelihoods, *map(_as_table, small)]
    _check_zeros(network, evidence, tables, fixed)
    batches = [*_batches(cards, tables), node_factors(large, len(cards), len(tables))]
    assembly = assemble(network.values, cards, batches, clause_nodes(large), fixed)
    if assembly.constant_weight == IMPOSSIBLE:
        raise NoWorldError(Diagnostic("no state of the model has a weight above 0"))
    n = len(cards)
    atoms = _named(network, assembly.nodes.node[:n], assembly.nodes.state[:n])
    return GroundModel(
        graph=assembly.graph,
        atoms=atoms,
        values=network.values,
        rules=_rules(tables, large),
        queries=_queries(observed, atoms, np.flatnonzero(fixed < 0)),
        constant_weight=assembly.constant_weight,
        warnings=observed.warnings,
    )


def build_hard(observed: ObservedNetwork) -> GroundModel:
    """Tables with zeros, hard clauses and evidence as factors of their own: why no world is possible.

    Nothing is fixed and nothing merged, so the graph is not for inference. There are no queries.
    """
    network, evidence = observed.network, observed.evidence
    cards = np.array(network.cards, dtype=np.int64)
    hard = [table for table in network.tables if (table.weight == IMPOSSIBLE).any()]
    small, large = _by_size([clause for clause in network.clauses if clause.kind == "require"])
    seen = (_as_evidence(network, item) for item in evidence.observed)
    tables = [*hard, *map(_as_table, small), *evidence.likelihoods, *seen]
    batches = [*_batches(cards, tables), node_factors(large, len(cards), len(tables))]
    free = np.full(len(cards), -1, dtype=np.int64)
    return GroundModel(
        graph=unmerged(network.values, cards, batches, clause_nodes(large)),
        atoms=_named(network, np.arange(len(cards)), free),
        values=network.values,
        rules=_rules(tables, large),
        queries=(),
    )


def _as_evidence(network: Network, item: Observed) -> Table:
    """The table that allows the observed state only."""
    states = np.arange(len(network.states[item.variable]))
    weight = np.where(states == item.state, ZERO, IMPOSSIBLE)
    return Table(np.array([item.variable]), weight, f"evidence {_equation(network, item)}", item.span)


def _by_size(clauses: Sequence[Clause]) -> tuple[list[Clause], list[Clause]]:
    """Those that become tables, and those that become nodes."""
    small = [_joint_states(clause) <= LARGEST_TABLE for clause in clauses]
    return list(compress(clauses, small)), list(compress(clauses, (not each for each in small)))


def _joint_states(clause: Clause) -> int:
    return int(np.prod([len(literal) for literal in clause.literals], dtype=object))


def _as_table(clause: Clause) -> Table:
    return Table(clause.scope, clause_table(clause), clause.text, clause.span, clause.kind)


def _batches(cards: IntArray, tables: Sequence[Table]) -> Iterator[FactorBatch]:
    """One batch per list of cards, with equal tables stored once."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for rule, table in enumerate(tables):
        groups.setdefault(tuple(cards[table.scope].tolist()), []).append(rule)
    for shape, rules in groups.items():
        seen: dict[bytes, int] = {}
        row = [seen.setdefault(tables[rule].weight.tobytes(), len(seen)) for rule in rules]
        stored = np.array([np.frombuffer(content, dtype=np.int64) for content in seen], dtype=np.int64)
        scope = np.array([tables[rule].scope for rule in rules], dtype=np.int64).reshape(
            len(rules), len(shape)
        )
        yield FactorBatch(scope, np.array(row), stored, np.array(rules))


def _check_zeros(network: Network, evidence: FileEvidence, tables: Sequence[Table], fixed: IntArray) -> None:
    cards = np.array(network.cards, dtype=np.int64)
    for table in tables:
        zero = table.weight == IMPOSSIBLE
        if zero.all():
            message = f"{table.text}: all entries are 0, so no state of the model has a weight above 0"
            raise PlxError(Diagnostic(message, table.span))
        state = fixed[table.scope]
        if zero.any() and (state >= 0).any():
            index = tuple(slice(None) if s < 0 else int(s) for s in state)
            if zero.reshape(cards[table.scope])[index].all():
                raise PlxError(_clash(network, evidence, table))


def _clash(network: Network, evidence: FileEvidence, table: Table) -> Diagnostic:
    """The mistake of evidence that one table gives the weight 0."""
    involved = [observed for observed in evidence.observed if observed.variable in table.scope]
    pairs = " and ".join(_equation(network, observed) for observed in involved)
    notes = tuple(Note("observed here", observed.span) for observed in involved if observed.span)
    message = f"the evidence has probability 0: {table.text} is 0 wherever {pairs}"
    return Diagnostic(message, table.span, notes=notes)


def _equation(network: Network, observed: Observed) -> str:
    """``smoke = yes``."""
    name = variable_name(network.blocks, network.values, observed.variable)
    state = network.states[observed.variable][observed.state]
    return f"{name} = {plain(network.values[int(state)])}"


def _named(network: Network, node: IntArray, state: IntArray) -> Atoms:
    """The variables by name: their nodes, or the states that they are fixed at."""
    seen: dict[bytes, int] = {}
    domain = [seen.setdefault(states.tobytes(), len(seen)) for states in network.states]
    fixed = [int(network.states[v][s]) if s >= 0 else -1 for v, s in enumerate(state)]
    return Atoms(
        blocks=network.blocks,
        node=node.astype(np.int32),
        fixed=np.array(fixed, dtype=np.int64),
        domain=np.array(domain, dtype=np.int32),
        domains=tuple(np.frombuffer(content, dtype=np.int64) for content in seen),
        atom_of=np.flatnonzero(node >= 0),
        values=network.values,
        quoted=False,
    )


def _rules(tables: Sequence[Table], large: Sequence[Clause]) -> tuple[GroundRule, ...]:
    items: list[Table | Clause] = [*tables, *large]
    return tuple(GroundRule(item.kind, item.text, item.span, 1, 1) for item in items)


def _queries(observed: ObservedNetwork, atoms: Atoms, free: IntArray) -> tuple[GroundQuery, ...]:
    """What the network asks for, and a `map` last if best worlds are asked for."""
    asks, best = observed.network.asks, observed.best
    if asks == "map":
        return _map(max(best, 1))
    if asks == "logz":
        return (GroundQuery("logz", "logz", "logz", (), (), None), *_map(best))
    return (*(_query(atoms, int(atom)) for atom in free), *_map(best))


def _map(best: int) -> tuple[GroundQuery, ...]:
    text = "map" if best == 1 else f"map {best}"
    return (GroundQuery("map", text, text, (), (), None, best),) if best else ()


def _query(atoms: Atoms, atom: int) -> GroundQuery:
    labels = atoms.domains[atoms.domain[atom]]
    kind: Literal["probability", "distribution"] = (
        "probability" if labels.tolist() == [FALSE, TRUE] else "distribution"
    )
    name = atoms.name(atom)
    return GroundQuery(kind, name, name, (Target(int(atoms.node[atom]), labels),), (), None)
