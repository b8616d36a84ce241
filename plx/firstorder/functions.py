"""Random functions whose values are elements, as relations in which each index has exactly one value.

``random f(x: V): V`` is ``random f(x: V, y: V)`` and ``require count(f(x, y) for y in V) = 1 for x in V``.
What counts per element is summed over without grounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from plx.check.program import (
    Aggregate,
    Const,
    Evidence,
    Expr,
    Operation,
    Program,
    Query,
    RandomInfo,
    RandomTerm,
    Rule,
    Scope,
    SetBinding,
    SetType,
    SlotInfo,
)
from plx.firstorder.elements import Universe
from plx.firstorder.function_queries import MembersAsked, translated
from plx.firstorder.function_terms import FunctionTerms
from plx.firstorder.injective import injective
from plx.firstorder.questions import instances
from plx.firstorder.refusal import NotLiftableError, shown
from plx.graph.model import GroundQuery
from plx.ground.bind import all_instances
from plx.ground.env import ROOT, Env
from plx.ground.evaluate import Evaluator
from plx.ground.tasks import split
from plx.values import TRUE


@dataclass(frozen=True, eq=False)
class Related:
    """A program in which no function has elements as values; ``original`` is what it stands for, and
    ``asked`` what each of its queries stands for, None for itself. ``functions`` are the original's."""

    program: Program
    original: Program
    asked: tuple[MembersAsked | None, ...]
    functions: tuple[str, ...]

    def env(self, asked: MembersAsked) -> Env:
        """The instances of a query of the original."""
        return all_instances(Evaluator(self.original), ROOT, asked.query.scope)

    def instances(self, asked: MembersAsked) -> Iterator[GroundQuery]:
        """The instances of a query of the original by name, without targets."""
        return instances(Evaluator(self.original), asked.query, self.env(asked))


def related(program: Program, universe: Universe) -> Related:
    """The program without functions whose values are elements; the same one where there is none.

    Raises NotLiftableError for what is said of them and is no relation's.
    """
    functions = {name: info for name, info in program.randoms.items() if _has_members(universe, info)}
    if not functions:
        return Related(program, program, (None,) * len(program.queries), ())
    found = _Relations(program, FunctionTerms(functions))
    queries = [found.query(query) for query in program.queries]
    return Related(
        replace(
            program,
            randoms={name: found.relation(info) for name, info in program.randoms.items()},
            rules=(*found.one_each(), *(new for rule in program.rules for new in found.rule(rule))),
            evidence=tuple(found.evidence(facts) for facts in program.evidence),
            queries=tuple(query for query, _ in queries),
        ),
        program,
        tuple(asked for _, asked in queries),
        tuple(functions),
    )


def _has_members(universe: Universe, info: RandomInfo) -> bool:
    """Whether the values of a random function are the members of a type, all of them elements."""
    domain = info.domain
    return isinstance(domain, SetType) and not domain.arguments and universe.is_element_set(domain)


class _Relations:
    """The parts of a program, with relations in the place of functions."""

    def __init__(self, program: Program, terms: FunctionTerms) -> None:
        self.program, self.terms = program, terms
        self.evaluator = Evaluator(program)

    def relation(self, info: RandomInfo) -> RandomInfo:
        """The declaration of a relation."""
        if info.name not in self.terms.functions:
            return info
        value = self._value(info)
        return replace(info, slots=(*info.slots, SlotInfo(value.variable, value.set)), domain=None)

    def one_each(self) -> Iterator[Rule]:
        """That every index of a function has exactly one value."""
        for info in self.terms.functions.values():
            value = self._value(info)
            at = RandomTerm(info.name, tuple(slot.variable for slot in info.slots), span=info.span)
            count = Aggregate("count", self.terms.at(at, value.variable), Scope((value,)), span=info.span)
            one = Const(self.program.values.id(1), span=info.span)
            yield Rule("require", Operation("=", (count, one), span=info.span), _indexes(info), info.span)

    def rule(self, rule: Rule) -> Iterator[Rule]:
        """What a rule says. Raises NotLiftableError."""
        own = rule.unknown is not None and self.terms.is_term(rule.unknown)
        if not own and not self._mentions(rule.body):
            yield rule
            return
        if rule.kind == "random":
            yield self._distribution(rule)
            return
        for task in split(0, rule, self.evaluator.terms):
            task = injective(self.terms, self.evaluator, task) or task
            body, scope = self.terms.by_cases(rule.kind, self.terms.rewritten(task.body), task.scope)
            yield replace(rule, body=body, scope=scope)

    def evidence(self, facts: Evidence) -> Evidence:
        """Facts about a function as facts about the relation."""
        if facts.random not in self.terms.functions:
            return facts
        info = self.terms.functions[facts.random]
        index, value = facts.index, facts.value
        if facts.otherwise is not None:
            every = all_instances(self.evaluator, ROOT, _indexes(info))
            rows = self.evaluator.stack(tuple(slot.variable for slot in info.slots), every)
            known = {tuple(row) for row in index.tolist()}
            rest = np.array([row for row in rows.tolist() if tuple(row) not in known], dtype=np.int64)
            index = np.concatenate([index, rest.reshape(-1, index.shape[1])])
            value = np.concatenate([value, np.full(len(index) - len(value), facts.otherwise.id)])
        return replace(
            facts,
            index=np.column_stack([index, value]),
            value=np.full(len(index), TRUE),
            otherwise=None,
        )

    def query(self, query: Query) -> tuple[Query, MembersAsked | None]:
        """A query of the relations, and what it stands for. Raises NotLiftableError."""
        if query.kind == "map":
            return self._map(query), MembersAsked(query, (), ())
        if any(map(self._mentions, (*query.targets, *query.given))):
            return translated(self.terms, query)
        return query, None

    def _map(self, query: Query) -> Query:
        """A `map` of the relations, of all values of what it is about. Raises NotLiftableError."""
        given = tuple(map(self.terms.rewritten, query.given))
        for expr in given:
            if (term := self.terms.first(expr)) is not None:
                what = f"{shown(query.span)} is not about single values of `{term.name}`"
                raise NotLiftableError(what, query.span)
        part, scope = query.part, query.scope
        if isinstance(part, RandomTerm) and self.terms.is_term(part):
            value = self.terms.value(part)
            part = self.terms.at(part, value.variable)
            scope = replace(scope, bindings=(*scope.bindings, value))
        return replace(query, given=given, part=part, scope=scope)

    def _mentions(self, expr: Expr) -> bool:
        return self.terms.first(expr) is not None

    def _value(self, info: RandomInfo) -> SetBinding:
        """A variable over the values of a function."""
        return self.terms.value(RandomTerm(info.name, (), span=info.span))

    def _distribution(self, rule: Rule) -> Rule:
        """A uniform distribution as a weight of each value. Raises NotLiftableError for another one."""
        term, span = rule.unknown, rule.span
        assert term is not None
        if not self.terms.is_term(term):
            raise NotLiftableError(f"{shown(span)} depends on values that are members", span)
        if not (rule.scores and isinstance(rule.body, Const)):
            raise NotLiftableError(f"{shown(span)} is a distribution over members that is not uniform", span)
        value = self.terms.value(term)
        count = len(self.program.types[_domain(self.terms.functions[term.name]).name].members)
        share = Const(self.program.values.id(Fraction(1, count)), span=span)
        return Rule(
            "weight",
            self.terms.at(term, value.variable),
            replace(rule.scope, bindings=(*rule.scope.bindings, value)),
            span,
            weight=Operation("log", (share,), span=span),
        )


def _domain(info: RandomInfo) -> SetType:
    assert isinstance(info.domain, SetType)
    return info.domain


def _indexes(info: RandomInfo) -> Scope:
    """The indexes of a function."""
    return Scope(
        tuple(SetBinding(slot.variable, slot.set, span=info.span) for slot in info.slots), info.guard
    )
