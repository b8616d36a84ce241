"""The atoms of a program: index, domain and evidence of every ground random term."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plx.check.program import (
    BOOLEAN,
    Program,
    RandomInfo,
    RandomTerm,
    Scope,
    SetBinding,
    SetConst,
    SetExpr,
    SetType,
)
from plx.errors import Diagnostic, Note, PlxError
from plx.graph.model import AtomBlock, Atoms, Int32Array
from plx.graph.ragged import starts
from plx.graph.rows import unique_keys
from plx.ground.bind import all_instances, count_candidates
from plx.ground.columns import Column, Part, TableBlock, gathered
from plx.ground.env import ROOT, Env
from plx.ground.evaluate import Evaluator
from plx.ground.index import TupleIndex
from plx.ground.limits import raise_limit
from plx.ground.terms import slot_names
from plx.values import IntArray


@dataclass
class AtomTable:
    """All atoms while grounding. ``fixed`` is filled in by evidence; ``node`` after that."""

    blocks: tuple[AtomBlock, ...]
    domain: Int32Array  # [A] number of the domain
    domains: tuple[IntArray, ...]
    fixed: IntArray  # [A] value id, or -1
    node: Int32Array  # [A] variable, or -1
    _index: dict[str, TupleIndex]

    def find(self, name: str, index: IntArray) -> IntArray:
        """Atom numbers of indexes [n, slots]; -1 where there is no such atom."""
        block = self.block(name)
        if name not in self._index:
            self._index[name] = TupleIndex(block.index)
        row = self._index[name].find(index)
        return np.where(row >= 0, row + block.first, -1)

    def block(self, name: str) -> AtomBlock:
        """The atoms of one random function."""
        return next(block for block in self.blocks if block.name == name)

    def place(self, atom: int) -> tuple[str, IntArray]:
        """The random function and the index of an atom."""
        block = next(b for b in reversed(self.blocks) if b.first <= atom)
        return block.name, block.index[atom - block.first]

    def number(self) -> IntArray:
        """Give every atom that is not fixed its variable; returns their cards [V]."""
        free = self.fixed < 0
        self.node = np.where(free, np.cumsum(free) - 1, -1).astype(np.int32)
        return self._sizes()[self.domain[free]]

    def states(self, atoms: IntArray, values: IntArray) -> IntArray:
        """The state of each value in the domain of each atom; -1 where it is outside."""
        owner = np.repeat(np.arange(len(self.domains)), self._sizes())
        joined = np.concatenate([*self.domains, np.empty(0, dtype=np.int64)])
        row = TupleIndex(np.stack([owner, joined], axis=1)).find(
            np.stack([self.domain[atoms], values], axis=1)
        )
        return np.where(row >= 0, row - starts(self._sizes())[self.domain[atoms]], -1)

    def column(self, atoms: IntArray) -> Column:
        """The values of atoms [n]: fixed by evidence, or a table over their variable."""
        fixed = self.fixed[atoms]
        rows = np.flatnonzero(fixed < 0)
        free = atoms if len(rows) == len(atoms) else atoms[rows]
        first, number = unique_keys(self.domain[free].astype(np.int64))
        used = [self.domains[d] for d in self.domain[free[first]]]
        parts: list[Part] = []
        for card in sorted({len(domain) for domain in used}):
            chosen = [i for i, domain in enumerate(used) if len(domain) == card]
            tables = np.stack([used[i] for i in chosen])
            place = np.full(len(used), -1, dtype=np.int64)
            place[chosen] = np.arange(len(chosen))
            table, node, mine = place[number], self.node[free], rows
            if len(chosen) < len(used):
                pick = np.flatnonzero(table >= 0)
                table, node, mine = table[pick], node[pick], rows[pick]
            parts.append(TableBlock(mine, node[:, None], table, tables, (card,)))
        return gathered(fixed, parts)

    def _sizes(self) -> IntArray:
        return np.array([len(d) for d in self.domains], dtype=np.int64)


_BYTES_PER_INDEX = 120
_BYTES_PER_SLOT = 8
"""Memory at the peak of grounding per index of a random function: measured on 10^6 indexes."""


def lay_out(evaluator: Evaluator, max_ground: int) -> AtomTable:
    """The atoms of every random function, none observed yet; a domain of one value fixes the atom."""
    program = evaluator.program
    blocks, domain, domains = [], [], _Domains()
    first = 0
    for info in program.randoms.values():
        env = _indexes(evaluator, info, max_ground)
        index = env.stack([slot.variable.uid for slot in info.slots])
        blocks.append(AtomBlock(info.name, index, first, slot_names(info)))
        domain.append(_domain_numbers(evaluator, info, env, domains))
        first += env.n
    numbers = np.concatenate([*domain, np.empty(0, dtype=np.int64)])
    single = np.array([int(d[0]) if len(d) == 1 else -1 for d in domains.arrays], dtype=np.int64)
    fixed = single[numbers] if first else np.empty(0, dtype=np.int64)
    node = np.full(first, -1, dtype=np.int32)
    return AtomTable(tuple(blocks), numbers.astype(np.int32), tuple(domains.arrays), fixed, node, {})


def named(table: AtomTable, program: Program, node: IntArray) -> Atoms:
    """The noun that goes with the graph; ``node`` [V] is the graph's number of each variable."""
    final = np.where(table.node >= 0, node[np.maximum(table.node, 0)] if len(node) else -1, -1)
    atom_of = np.flatnonzero(final >= 0)
    return Atoms(
        blocks=table.blocks,
        node=final.astype(np.int32),
        fixed=np.where(final >= 0, -1, table.fixed),
        domain=table.domain,
        domains=table.domains,
        atom_of=atom_of[np.argsort(final[atom_of], kind="stable")].astype(np.int64),
        values=program.values,
    )


class _Domains:
    """Distinct domains, numbered."""

    def __init__(self) -> None:
        self.arrays: list[IntArray] = []
        self._seen: dict[bytes, int] = {}

    def number(self, members: IntArray) -> int:
        key = members.astype(np.int64).tobytes()
        found = self._seen.setdefault(key, len(self.arrays))
        if found == len(self.arrays):
            self.arrays.append(members)
        return found


def _indexes(evaluator: Evaluator, info: RandomInfo, max_ground: int) -> Env:
    slots = tuple(SetBinding(slot.variable, slot.set, span=info.span) for slot in info.slots)
    scope = Scope(slots, info.guard)
    count = count_candidates(evaluator, ROOT, scope, max_ground)
    if count > max_ground:
        raise PlxError(_too_many(info, count, max_ground))
    return all_instances(evaluator, ROOT, scope)


def _domain_numbers(evaluator: Evaluator, info: RandomInfo, env: Env, domains: _Domains) -> IntArray:
    if info.domain is None:
        return np.full(env.n, domains.number(BOOLEAN), dtype=np.int64)
    sets = evaluator.sets(info.domain, env)
    distinct = sets.distinct()
    return np.array([domains.number(d) for d in distinct], dtype=np.int64)[sets.which]


def outside(evaluator: Evaluator, term: RandomTerm, index: IntArray, where: str) -> PlxError:
    """The error for an atom that does not exist."""
    info = evaluator.program.randoms[term.name]
    atom = evaluator.name(term.name, index)
    reason = "its guard excludes it" if info.guard is not None else "its index is outside the declared slots"
    return PlxError(
        Diagnostic(
            f"there is no `{atom}`: {reason}{where}",
            term.span,
            hint="exclude such instances with `if …` after the `for`, or in the formula before the term",
            notes=(Note(f"`{term.name}` is declared here", info.span),),
        )
    )


def _too_many(info: RandomInfo, count: int, max_ground: int) -> Diagnostic:
    """``count`` is exact where neither a guard nor a slot that depends on others leaves out indexes."""
    simple = info.guard is None and all(_is_whole(slot.set) for slot in info.slots)
    memory = count * (_BYTES_PER_INDEX + _BYTES_PER_SLOT * len(info.slots))
    return Diagnostic(
        f"`{info.name}` has {'' if simple else 'up to '}{count:,} indexes (about {memory / 1e9:,.1f} GB); "
        f"the limit is {max_ground:,}",
        info.span,
        hint=f"restrict its slots, or {raise_limit(count)}",
    )


def _is_whole(set_: SetExpr) -> bool:
    return isinstance(set_, SetConst) or (isinstance(set_, SetType) and not set_.arguments)
