"""A ground model → a program of plx: its unknowns, its factors as tables, its evidence and its queries."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from fractions import Fraction

import numpy as np

from plx import weights
from plx.formats.network import Clause
from plx.formats.plx_names import PlxNames, key, number
from plx.graph.model import AtomBlock, GroundModel, GroundQuery, Int32Array, Target
from plx.values import FALSE, IMPOSSIBLE, TRUE, ZERO, IntArray, Value
from plx.weights import LogNumber


def write_ground(model: GroundModel, clauses: Sequence[Clause] = ()) -> str:
    """A program with the distribution and the queries of a ground model, and clauses over its atoms besides.

    Log weights whose exponentials are rational stand as these. A query that the graph cannot tell is kept
    as a comment.
    """
    return "\n".join(_Writer(model, clauses).lines()).lstrip("\n") + "\n"


class _Writer:
    """The parts of one program. A *term* is what the program writes for a node."""

    def __init__(self, model: GroundModel, clauses: Sequence[Clause]) -> None:
        self.model, self.graph, self.clauses = model, model.graph, clauses
        self.values = model.values
        domains = [self._tuple(domain) for domain in model.atoms.domains]
        arguments = (self.values[int(i)] for block in model.atoms.blocks for i in np.unique(block.index))
        symbols = [value for values in (*domains, arguments) for value in values if isinstance(value, str)]
        self.names = PlxNames(symbols)
        self.blocks = [self.names.new(block.name) for block in model.atoms.blocks]
        self.terms = [
            term
            for block, name in zip(model.atoms.blocks, self.blocks, strict=True)
            for term in self._terms(block, name)
        ]
        self.nodes = [self.terms[int(atom)] for atom in model.atoms.atom_of]
        self.tables: dict[tuple[object, ...], str] = {}

    def lines(self) -> Iterator[str]:
        """The program, line by line."""
        body = [*self._body()]  # what it needs of types is known only then
        for members, name in self.names.types.items():
            yield f"type {name} = {members}"
        yield from body

    def _body(self) -> Iterator[str]:
        for block, name in zip(self.model.atoms.blocks, self.blocks, strict=True):
            yield from self._declared(block, name)
        yield from self._derived()
        for factor in range(self.graph.n_factors):
            yield from self._factor(factor)
        if self.model.constant_weight != ZERO:
            yield f"factor {weights.text(self._weight(self.model.constant_weight))}"
        yield from self._clauses()
        yield ""
        for atom in np.flatnonzero(self.model.atoms.node < 0):
            value = self.values[int(self.model.atoms.fixed[atom])]
            yield f"observe {self.terms[int(atom)]} = {self.names.value(value)}"
        for query in self.model.queries:
            yield self._query(query)

    # ------------------------------------------------------------------------ unknowns

    def _terms(self, block: AtomBlock, name: str) -> Iterator[str]:
        for row in block.index.tolist():
            arguments = ", ".join(self.names.value(self.values[i]) for i in row)
            yield f"{name}({arguments})" if arguments else name

    def _declared(self, block: AtomBlock, name: str) -> Iterator[str]:
        """The `random` of a block: over all its arguments, or over those in a relation."""
        yield ""
        if block.name != name:
            yield f"# {' '.join(block.name.split())}"
        columns = [self._tuple(list(dict.fromkeys(column))) for column in block.index.T.tolist()]
        for column in columns:
            self.names.declare(column, f"{name}_index")
        sets = [self.names.set(column) for column in columns]
        slots = [f"{letter}: {each}" for letter, each in zip(_letters(len(sets)), sets, strict=True)]
        guard = ""
        if len(block.index) < np.prod([len(column) for column in columns], dtype=object):
            relation = self.names.new(f"{name}_exists", avoid=True)
            yield f"relation {relation}({', '.join(sets)}) = {{{', '.join(self._keys(block))}}}"
            guard = f" if ({', '.join(_letters(len(sets)))}) in {relation}"
        domain = yield from self._domain(block, name, sets)
        parts = slots if guard or "(" in domain else sets
        declared = f"random {name}({', '.join(parts)})" if parts else f"random {name}"
        yield f"{declared}{'' if domain == 'Boolean' else f': {domain}'}{guard}"

    def _domain(self, block: AtomBlock, name: str, sets: Sequence[str]) -> Generator[str, None, str]:
        """The set of values of a block; a family of sets where they differ from index to index."""
        atoms = self.model.atoms
        numbers = atoms.domain[block.first : block.first + len(block.index)].tolist()
        domains = {n: self._tuple(atoms.domains[n]) for n in dict.fromkeys(numbers)}
        if len(domains) == 1:
            (values,) = domains.values()
            self.names.declare(values, f"{name[:1].upper()}{name[1:]}_state")
            return self.names.set(values)
        family = self.names.new(f"{name[:1].upper()}{name[1:]}_state", avoid=True)
        most = max(domains, key=numbers.count)
        entries = [
            f"{each}: {self.names.braces(domains[n])}"
            for each, n in zip(self._keys(block), numbers, strict=True)
            if n != most
        ]
        entries.append(f"else: {self.names.braces(domains[most])}")
        yield f"type {family}({', '.join(sets)}) = {{{', '.join(entries)}}}"
        return f"{family}({', '.join(_letters(len(sets)))})"

    def _keys(self, block: AtomBlock) -> Iterator[str]:
        for row in block.index.tolist():
            yield key([self.names.value(self.values[i]) for i in row])

    # ------------------------------------------------------------------------- factors

    def _derived(self) -> Iterator[str]:
        """A define for each derived node: a number from 0 on, by a sum over other nodes."""
        for derived in range(self.graph.n_derived):
            yield ""
            parts = [
                part
                for node, vector in zip(*self.graph.inputs_of(derived), strict=True)
                for part in self._contribution(int(node), self.graph.contribution_of(int(vector)))
            ]
            total = " + ".join(parts) or "0"
            output = self.graph.output_map(derived).tolist()
            name = self.names.new(f"n{derived + 1}", avoid=True)
            first = next((i for i, each in enumerate(output) if each), len(output))
            if output == list(range(len(output))):
                value = total
            elif output == [int(i >= first) for i in range(len(output))]:
                value = f"1 * ({total} >= {first})"
            else:
                table = self.names.new(f"of_{name}", avoid=True)
                entries = ", ".join(f"{i}: {each}" for i, each in enumerate(output))
                yield f"param {table}(0..{len(output) - 1}) = {{{entries}}}"
                value = f"{table}({total})"
            yield f"define {name} = {value}"
            self.nodes.append(name)

    def _contribution(self, node: int, vector: Int32Array) -> Iterator[str]:
        """What a node adds to a sum: a term for each number that it may add."""
        for amount in dict.fromkeys(each for each in vector.tolist() if each):
            states = np.flatnonzero(vector == amount).tolist()
            yield f"{amount} * {self._is(node, states)}"

    def _is(self, node: int, states: Sequence[int]) -> str:
        """The formula that a node is in one of these states."""
        return self._in(self.nodes[node], self._states(node), states)

    def _in(self, term: str, values: Sequence[Value], states: Sequence[int]) -> str:
        if len(states) == 1:
            return f"({term} = {self.names.value(values[states[0]])})"
        if len(states) == len(values) - 1 > 1:
            (left,) = set(range(len(values))) - set(states)
            return f"({term} != {self.names.value(values[left])})"
        return f"({term} in {self.names.braces([values[s] for s in states])})"

    def _states(self, node: int) -> tuple[Value, ...]:
        if node < self.graph.n_variables:
            return self._tuple(self.model.atoms.states(node))
        return tuple(range(int(self.graph.card[node])))

    def _factor(self, factor: int) -> Iterator[str]:
        """One factor over its table, which is written where it is first used."""
        nodes = self.graph.scope_of(factor).tolist()
        table = int(self.graph.table_of[factor])
        ids = self.graph.table_weights(factor)
        rational = all(_is_rational(self._weight(int(i))) for i in np.unique(ids) if i != IMPOSSIBLE)
        yield ""
        yield f"# {' '.join(self.model.rules[int(self.graph.rule_of[factor])].text.split())}"
        states = [self._states(node) for node in nodes]
        arguments = ", ".join(self.nodes[node] for node in nodes)
        signature = (table, *map(self.names.set, states))
        if signature not in self.tables:
            self.tables[signature] = self.names.new(f"t{len(self.tables) + 1}", avoid=True)
            yield from self._param(self.tables[signature], states, self._entries(ids, rational))
        name = self.tables[signature]
        yield f"factor log({name}({arguments}))" if rational else f"factor {name}({arguments})"
        if not rational and (ids == IMPOSSIBLE).any():
            possible = self.names.new(f"{name}_possible", avoid=True)
            flags = ["0" if i == IMPOSSIBLE else "1" for i in ids.ravel().tolist()]
            yield from self._param(possible, states, flags)
            yield f"factor log({possible}({arguments}))"

    def _entries(self, ids: IntArray, rational: bool) -> list[str]:
        """Entries of a table: exponentials of the weights where these are rational, else the weights."""
        text = {int(i): self._entry(int(i), rational) for i in np.unique(ids)}
        return [text[i] for i in ids.ravel().tolist()]

    def _entry(self, weight: int, rational: bool) -> str:
        if weight == IMPOSSIBLE:
            return "0"
        found = self._weight(weight)
        return number(Fraction(weights.exp(found))) if rational else weights.text(found)  # type: ignore[arg-type]

    def _param(self, name: str, states: Sequence[tuple[Value, ...]], entries: Sequence[str]) -> Iterator[str]:
        """A table, one row of the last node a line."""
        yield f"param {name}({', '.join(map(self.names.set, states))}) = {{"
        shape = [len(each) for each in states]
        width = shape[-1]
        for start in range(0, len(entries), width):
            cells = []
            for at in range(start, start + width):
                place = np.unravel_index(at, shape)
                parts = [self.names.value(each[int(p)]) for each, p in zip(states, place, strict=True)]
                cells.append(f"{key(parts)}: {entries[at]}")
            yield f"  {', '.join(cells)}{',' if start + width < len(entries) else ''}"
        yield "}"

    # -------------------------------------------------------------- clauses and queries

    def _clauses(self) -> Iterator[str]:
        if self.clauses:
            yield ""
        for clause in self.clauses:
            literals = []
            for variable, holds in zip(clause.scope.tolist(), clause.literals, strict=True):
                domain = self._tuple(self.model.atoms.domains[int(self.model.atoms.domain[variable])])
                literals.append(self._literal(self.terms[variable], domain, np.flatnonzero(holds).tolist()))
            formula = " | ".join(literals)
            if clause.fails == IMPOSSIBLE:
                yield f"require {formula}"
            elif clause.fails != ZERO:
                yield f"weight {weights.text(self._weight(clause.fails))}: !({formula})"
            if clause.weight != ZERO:
                yield f"weight {weights.text(self._weight(clause.weight))}: {formula}"

    def _literal(self, term: str, domain: tuple[Value, ...], states: Sequence[int]) -> str:
        if len(states) == 1 and domain == (False, True) and isinstance(domain[0], bool):
            return term if states == [1] else f"!{term}"
        return self._in(term, domain, states)

    def _query(self, query: GroundQuery) -> str:
        parts = [self._target(target) for target in query.targets]
        known = all(parts) and all(fact.node >= 0 for fact in query.given)
        if query.part is not None or not known:
            return f"# not written: query {' '.join(query.text.split())}"
        given = ", ".join(self._is(fact.node, [fact.state])[1:-1] for fact in query.given)
        asked = {"logz": "logz", "map": f"map {query.best}" if query.best > 1 else "map"}.get(query.kind)
        asked = asked or (parts[0] if len(parts) == 1 else f"({', '.join(map(str, parts))})")
        return f"query {asked}{f' given {given}' if given else ''}"

    def _target(self, target: Target) -> str | None:
        """What a query asks of one node; None where its labels are not those of the node's states."""
        if target.node < 0:
            return None
        labels, states = self._tuple(target.labels), self._states(target.node)
        if labels == states and list(map(type, labels)) == list(map(type, states)):
            return self.nodes[target.node]
        if target.labels.tolist() == [FALSE, TRUE]:
            return self._is(target.node, [1])[1:-1]
        return None

    def _weight(self, weight: int) -> weights.Number:
        found = self.values[weight]
        assert not isinstance(found, str | bool)
        return found

    def _tuple(self, ids: IntArray | Sequence[int]) -> tuple[Value, ...]:
        return tuple(self.values[int(i)] for i in ids)


def _is_rational(weight: weights.Number) -> bool:
    """Whether the exponential of a log weight is a rational number."""
    return weight == 0 or (isinstance(weight, LogNumber) and not weight.rational and weight.root == 1)


def _letters(count: int) -> list[str]:
    return [f"i{n + 1}" for n in range(count)] if count > 3 else ["i", "j", "k"][:count]
