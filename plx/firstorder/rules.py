"""The rules of a program as parts about one or two elements, and what they say of single ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from plx.check.program import (
    Aggregate,
    Const,
    Expr,
    Membership,
    Operation,
    ParamTerm,
    Program,
    Query,
    RandomTerm,
    Rank,
    RelationTerm,
    Rule,
    Scope,
    SetBinding,
    SetConst,
    SetExpr,
    SetType,
    Variable,
)
from plx.check.walk import parts, scope_exprs
from plx.firstorder.arithmetic import Arithmetic
from plx.firstorder.elements import Marks, Universe, members
from plx.firstorder.limits import MOST_EACH
from plx.firstorder.refusal import NotLiftableError, shown
from plx.firstorder.steps import stepped
from plx.graph.learned import ids_with
from plx.ground.bind import all_instances, count_candidates
from plx.ground.env import ROOT
from plx.ground.evaluate import Evaluator
from plx.ground.tasks import Task, plain, split
from plx.source import Span
from plx.values import FloatArray, IntArray
from plx.weights import Number


@dataclass(frozen=True)
class Part:
    """One part of a rule: ``variables`` range over elements, ``counts`` are aggregates over elements."""

    task: Task
    variables: tuple[Variable, ...]
    counts: tuple[Aggregate, ...]


@dataclass(frozen=True, eq=False)
class Facts:
    """What is observed of a random function: rows of indexes [r, slots] and values [r], and the value of
    all other indexes, None where these stay unknown."""

    random: str
    index: IntArray
    value: IntArray
    rest: int | None = None


@dataclass(eq=False)
class Rules:
    """The parts of all rules, the facts, and what both say that tells elements apart."""

    dtype: ClassVar[type] = np.float64
    """What log weights are, …"""

    long: ClassVar[type] = np.longdouble
    """… and those of pairs, of which there are many."""

    universe: Universe
    evaluator: Evaluator
    numbers: Mapping[str, Number] = field(default_factory=dict)
    """What learned numbers are."""

    parts: list[Part] = field(default_factory=list)
    facts: list[Facts] = field(default_factory=list)
    ordered: Span | None = None
    """Where an order of elements is asked for."""

    successor: Span | None = None
    """Where elements next to each other are told from others."""

    def logs(self, weights: IntArray) -> FloatArray:
        """Log weights by their ids, learned numbers put in."""
        values = self.evaluator.values
        return values.logs(ids_with(values, weights, self.numbers) if self.numbers else weights)

    @property
    def sparse(self) -> bool:
        """Whether evidence on pairs is summed over apart, and makes no kinds of elements of its own."""
        per_member = any(part.counts and part.variables for part in self.parts)
        counts = [expr for part in self.parts for expr in part.counts] + self.asked
        return not per_member and all(len(scope_variables(self, expr.scope)) < 2 for expr in counts)

    def linked(self, facts: Facts) -> IntArray:
        """Which rows [r] of evidence are about two different elements."""
        inside = self.universe.holds(facts.index)
        low = np.where(inside, facts.index, np.iinfo(np.int64).max).min(
            axis=1, initial=np.iinfo(np.int64).max
        )
        high = np.where(inside, facts.index, -1).max(axis=1, initial=-1)
        found: IntArray = (inside.sum(axis=1) > 1) & (low != high)
        return found

    def __post_init__(self) -> None:
        self.asked: list[Aggregate] = []  # over elements, by queries
        self.marks = Marks(self.universe)
        self.elements: dict[int, IntArray] = {}  # by uid of a variable over elements, those
        self.named: set[int] = set()  # elements that rules name


def read_rules(
    program: Program, universe: Universe, numbers: Mapping[str, Number], kind: type[Rules] = Rules
) -> Rules:
    """The rules of a program. Raises NotLiftableError for what no pair of elements shows."""
    rules = kind(universe, Evaluator(program), numbers)
    for name in universe.types:
        rules.marks.members(program.types[name].members)
    for info in program.randoms.values():
        for slot in info.slots:
            if bind(rules, slot.variable, slot.set):
                ids = members(program, slot.set)
                assert ids is not None
                rules.marks.members(ids)
            elif members(program, slot.set) is None and not np.isnan(universe.numbers).all():
                raise NotLiftableError(f"indexes of `{info.name}` depend on each other", info.span)
        look = _Look(rules, info.span, own=False)
        if info.guard is not None:
            look.walk(info.guard)
        if info.domain is not None:
            look.set(info.domain)
            if _has_elements(universe, info.domain):
                raise NotLiftableError(f"the values of `{info.name}` are members of a large type", info.span)
    for evidence in program.evidence:
        rest = None if evidence.otherwise is None else evidence.otherwise.id
        rules.facts.append(Facts(evidence.random, evidence.index, evidence.value, rest))
    for number, rule in enumerate(program.rules):
        for task in split(number, rule, rules.evaluator.terms):
            _read(rules, rule, task)
    for query in program.queries:
        _read_query(rules, query)
    for facts in rules.facts:
        rules.marks.table(facts.index, facts.value, own=True, sparse=rules.sparse)
    return rules


def _has_elements(universe: Universe, domain: SetExpr) -> bool:
    """Whether values of a random function are elements; integers of another set are no more than numbers."""
    ids = members(universe.program, domain)
    if ids is None or not universe.holds(ids).any():
        return False
    inside = universe.numbers[universe.position(ids[universe.holds(ids)])]
    return bool(np.isnan(inside).any()) or (isinstance(domain, SetType) and domain.name in universe.types)


def _read_query(rules: Rules, query: Query) -> None:
    """What a query tells apart; the elements that it names are not: each is asked about on its own."""
    if query.best > 1:
        raise NotLiftableError(f"`map {query.best}` asks for worlds that are as good as the best", query.span)
    scope_variables(rules, query.scope)
    look = _Look(rules, query.span, own=True, asked=True)
    for expr in (*query.targets, *query.given, *([] if query.part is None else [query.part])):
        look.walk(expr)
    rules.asked += look.counts


def bind(rules: Rules, variable: Variable, set_: SetExpr) -> bool:
    """Whether a variable ranges over elements; remembered."""
    inside = rules.universe.is_element_set(set_)
    if inside:
        ids = members(rules.evaluator.program, set_)
        assert ids is not None
        rules.elements[variable.uid] = ids
    return inside


def scope_variables(rules: Rules, scope: Scope) -> list[Variable]:
    """The variables of a scope that range over elements."""
    found = []
    for binding in scope.bindings:
        if isinstance(binding, SetBinding):
            found += [binding.variable] if bind(rules, binding.variable, binding.set) else []
        else:
            slots = rules.evaluator.program.relations[binding.relation].slots
            found += [v for v, s in zip(binding.variables, slots, strict=True) if bind(rules, v, s.set)]
    return found


def _read(rules: Rules, rule: Rule, task: Task) -> None:
    if task.source.kind == "observe" and _is_listed(rules, task):
        return
    variables = scope_variables(rules, task.scope)
    if len(variables) == 1 and (two := stepped(rules, task, len(rules.parts))) is not None:
        task, variables = two, scope_variables(rules, two.scope)
    what = shown(rule.span)
    if len(variables) > 2:
        names = ", ".join(f"`{v.name}`" for v in variables)
        raise NotLiftableError(f"{what} is about more than two members: {names}", rule.span)
    exprs = [e for e in (task.body, task.source.weight) if e is not None] + scope_exprs(task.scope)
    wide = any(_is_wide(rules, part) for expr in exprs for part in parts(expr))
    wide = wide or any(named_elements(rules, expr) for expr in exprs)
    look = _Look(rules, rule.span, own=len(variables) < 2 and not wide)
    for expr in (task.body, task.source.weight):
        if expr is not None:
            look.walk(expr)
    look.scope(task.scope)
    some = _each(rules, task) if look.counts and variables else (task,)
    rules.parts += [Part(one, tuple(variables), tuple(look.counts)) for one in some]


def _each(rules: Rules, task: Task) -> Iterator[Task]:
    """A task for each value of the variables that range over fixed sets of other values than elements, so
    that an element has one instance of it."""
    for i, binding in enumerate(task.scope.bindings):
        if not isinstance(binding, SetBinding) or binding.variable.uid in rules.elements:
            continue
        if isinstance(binding.set, SetType) and binding.set.arguments:
            continue
        ids = members(rules.evaluator.program, binding.set)
        if ids is None or not 1 < len(ids) <= MOST_EACH:
            continue
        for one in ids.tolist():
            fixed = replace(binding, set=SetConst((one,), span=binding.span))
            bindings = (*task.scope.bindings[:i], fixed, *task.scope.bindings[i + 1 :])
            yield from _each(rules, replace(task, scope=replace(task.scope, bindings=bindings)))
        return
    yield task


def _is_wide(rules: Rules, expr: Expr) -> bool:
    """Whether it is about other elements than the rule's variables are."""
    return isinstance(expr, Aggregate) and bool(scope_variables(rules, expr.scope))


def named_elements(rules: Rules, expr: Expr) -> list[int]:
    """The elements that an expression names: symbols, and integers as indexes."""
    found = []
    for part in parts(expr):
        if isinstance(part, RandomTerm | ParamTerm | RelationTerm):
            found += [a.id for a in part.arguments if isinstance(a, Const) and rules.universe.is_number(a.id)]
        elif isinstance(part, Const) and rules.universe.holds(np.array([part.id]))[0]:
            found += [] if rules.universe.is_number(part.id) else [part.id]
    return sorted(set(found))


def _is_listed(rules: Rules, task: Task) -> bool:
    """Take down a plain fact about listed indexes as evidence; False for what is no such thing."""
    fact = plain(task.body, rules.evaluator.terms)
    if fact is None:
        return False
    whole = any(
        isinstance(b, SetBinding) and isinstance(b.set, SetType) and rules.universe.is_element_set(b.set)
        for b in task.scope.bindings
    )
    if whole or count_candidates(rules.evaluator, ROOT, task.scope, _MOST_FACTS) > _MOST_FACTS:
        return False
    env = all_instances(rules.evaluator, ROOT, task.scope)
    term, value = fact
    index, values = rules.evaluator.stack(term.arguments, env), rules.evaluator.value(value, env)
    rules.facts.append(Facts(term.name, index, values))
    return True


_MOST_FACTS = 1 << 20


class _Look:
    """Goes through the expressions of a rule: elements may index functions and be compared with others."""

    def __init__(self, rules: Rules, span: Span, own: bool, asked: bool = False) -> None:
        self.rules, self.span, self.own, self.asked = rules, span, own, asked
        self.counts: list[Aggregate] = []
        self.arithmetic = Arithmetic(rules, span, own, asked)

    def walk(self, expr: Expr) -> None:
        """Note what an expression says of single elements. Raises NotLiftableError."""
        if self.arithmetic.notes(expr):
            return
        match expr:
            case Const() if self.rules.universe.is_number(expr.id):
                pass  # a number like others
            case Variable() | Const():
                if self._is_element(expr):
                    raise self._refusal(f"uses {_text(expr)} as a value")
            case RandomTerm():
                slots = self.rules.evaluator.program.randoms[expr.name].slots
                for argument, slot in zip(expr.arguments, slots, strict=True):
                    if self.rules.universe.is_element_set(slot.set) and not self._place(argument):
                        raise self._refusal(f"works out a member: {_text(argument)}")
                    if not self._place(argument):
                        self.walk(argument)
            case ParamTerm():
                info = self.rules.evaluator.program.params[expr.name]
                if any(not self.rules.universe.is_number(v) for v in self._elements(info.value)):
                    raise self._refusal(f"has members as values of `{expr.name}`")
                self._arguments(expr.arguments)
                if any(map(self._is_element, expr.arguments)):
                    self.rules.marks.table(info.index, info.value, self.own)
            case RelationTerm():
                self._arguments(expr.arguments)
                if any(map(self._is_element, expr.arguments)):
                    self._facts(expr.name)
            case Rank():
                if self._place(expr.argument):
                    self.rules.ordered = self.rules.ordered or expr.span
                else:
                    self.walk(expr.argument)
            case Membership():
                if not self._place(expr.item):
                    self.walk(expr.item)
                elif (ids := members(self.rules.evaluator.program, expr.set)) is not None:
                    self.rules.marks.members(ids, self.own)
                self.set(expr.set)
            case Operation(op="=" | "!=", arguments=(a, b)) if self._places(a, b):
                pass
            case Operation():
                for argument in expr.arguments:
                    self.walk(argument)
            case Aggregate():
                self._aggregate(expr)

    def set(self, set_: SetExpr) -> None:
        """As `walk`, of a set."""
        if isinstance(set_, SetType) and set_.arguments:
            info = self.rules.evaluator.program.types[set_.name]
            self._arguments(set_.arguments)
            if any(map(self._is_element, set_.arguments)):
                assert info.family is not None
                index = np.array([*info.family], dtype=np.int64)
                seen: dict[bytes, int] = {}
                value = [seen.setdefault(m.tobytes(), len(seen)) for m in info.family.values()]
                self.rules.marks.table(index, np.array(value, dtype=np.int64), self.own)
                if self.rules.universe.holds(info.members).any():
                    raise self._refusal(f"has members in the sets of `{set_.name}`")
            return
        ids = members(self.rules.evaluator.program, set_)
        if ids is not None and self.rules.universe.holds(ids).any():
            self.rules.marks.members(ids, self.own)
            return
        from plx.check.walk import set_exprs

        for expr in set_exprs(set_):
            self.walk(expr)

    def scope(self, scope: Scope) -> None:
        """As `walk`, of the sets and the guard of a scope."""
        for binding in scope.bindings:
            if isinstance(binding, SetBinding):
                self.set(binding.set)
            elif any(v.uid in self.rules.elements for v in binding.variables):
                self._facts(binding.relation)
        if scope.guard is not None:
            self.walk(scope.guard)

    def _aggregate(self, expr: Aggregate) -> None:
        inner = scope_variables(self.rules, expr.scope)
        terms = self.rules.evaluator.terms
        if inner and not terms.is_random(expr):
            raise self._refusal("counts members in what is fixed")
        if inner:
            free = [u for u in terms.free(expr) if u in self.rules.elements]
            if len(inner) + len(free) > 2:
                names = ", ".join(f"`{v.name}`" for v in inner)
                raise self._refusal(f"is about more than two members, with {names}")
            self.counts.append(expr)
        asked, self.asked = self.asked, self.asked and not inner
        inside, self.arithmetic.inside = self.arithmetic.inside, self.arithmetic.inside or bool(inner)
        self.walk(expr.body)
        self.scope(expr.scope)
        self.asked, self.arithmetic.inside = asked, inside

    def _arguments(self, arguments: tuple[Expr, ...]) -> None:
        for argument in arguments:
            if not self._place(argument):
                self.walk(argument)

    def _place(self, expr: Expr) -> bool:
        """Whether it is an element: a variable, or a name, which sets that element apart."""
        if not self._is_element(expr):
            return False
        if isinstance(expr, Const) and not self.asked:
            self.rules.named.add(expr.id)
            self.rules.marks.name(np.array([expr.id]))
        return True

    def _places(self, a: Expr, b: Expr) -> bool:
        """Whether both are elements; integers by themselves are numbers."""
        numbers = [e for e in (a, b) if isinstance(e, Const) and self.rules.universe.is_number(e.id)]
        return not numbers and self._place(a) and self._place(b)

    def _is_element(self, expr: Expr) -> bool:
        if isinstance(expr, Variable):
            return expr.uid in self.rules.elements
        return isinstance(expr, Const) and bool(self.rules.universe.holds(np.array([expr.id]))[0])

    def _elements(self, ids: IntArray) -> list[int]:
        found: list[int] = np.unique(ids[self.rules.universe.holds(ids)]).tolist()
        return found

    def _facts(self, name: str) -> None:
        facts = self.rules.evaluator.program.relations[name].facts
        self.rules.marks.table(facts.astype(np.int64), np.zeros(len(facts), dtype=np.int64), self.own)

    def _refusal(self, what: str) -> NotLiftableError:
        return NotLiftableError(f"{shown(self.span)} {what}", self.span)


def _text(expr: Expr) -> str:
    return shown(expr.span)
