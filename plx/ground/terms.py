"""Questions about the expressions of a program: what they mention."""

from __future__ import annotations

import math
from collections.abc import Iterator

from plx.check.program import (
    BOOLEAN,
    Aggregate,
    Expr,
    Membership,
    Operation,
    ParamTerm,
    Program,
    RandomInfo,
    RandomTerm,
    Rank,
    RelationBinding,
    RelationTerm,
    Scope,
    SetBinding,
    SetConst,
    SetExpr,
    SetItems,
    SetRange,
    SetType,
    SetUnion,
    SlotInfo,
    Variable,
)

Part = Expr | SetExpr


def parts(expr: Part) -> tuple[Part, ...]:
    """The immediate parts of an expression or a set."""
    match expr:
        case ParamTerm() | RelationTerm() | RandomTerm() | Operation() | SetType():
            return expr.arguments
        case Rank():
            return (expr.argument,)
        case Membership():
            return (expr.item, expr.set)
        case Aggregate():
            return (expr.body, *scope_parts(expr.scope))
        case SetItems():
            return expr.items
        case SetRange():
            return (expr.low, expr.high)
        case SetUnion():
            return expr.parts
    return ()


def scope_parts(scope: Scope) -> tuple[Part, ...]:
    """The sets and the guard of a scope."""
    sets: list[Part] = [b.set for b in scope.bindings if isinstance(b, SetBinding)]
    return (*sets, *([scope.guard] if scope.guard is not None else []))


class Terms:
    """Facts about expressions, remembered by object."""

    def __init__(self) -> None:
        self._random: dict[int, tuple[Part, bool]] = {}
        self._free: dict[int, tuple[Part, frozenset[int]]] = {}

    def is_random(self, expr: Part) -> bool:
        """Whether a random term occurs in it."""
        found = self._random.get(id(expr))
        if found is None:
            answer = isinstance(expr, RandomTerm) or any(self.is_random(p) for p in parts(expr))
            found = self._random[id(expr)] = (expr, answer)
        return found[1]

    def free(self, expr: Part) -> frozenset[int]:
        """The uids of the variables that it mentions and does not bind."""
        found = self._free.get(id(expr))
        if found is None:
            found = self._free[id(expr)] = (expr, self._find_free(expr))
        return found[1]

    def _find_free(self, expr: Part) -> frozenset[int]:
        if isinstance(expr, Variable):
            return frozenset({expr.uid})
        inner = frozenset[int]().union(*(self.free(p) for p in parts(expr)))
        if isinstance(expr, Aggregate):
            return inner - bound(expr.scope)
        return inner


def bound(scope: Scope) -> frozenset[int]:
    """The uids of the variables that a scope binds."""
    return frozenset(v.uid for binding in scope.bindings for v in variables(binding))


def variables(binding: SetBinding | RelationBinding) -> tuple[Variable, ...]:
    """The variables of one binding."""
    return (binding.variable,) if isinstance(binding, SetBinding) else binding.variables


def slot_names(info: RandomInfo) -> tuple[str, ...]:
    """The declared names of slots; else those of their types, else their numbers. All are different."""
    names: list[str] = []
    for number, slot in enumerate(info.slots, start=1):
        name = _slot_name(slot) or f"slot{number}"
        names.append(name if name not in names else f"{name}{number}")
    return tuple(names)


def _slot_name(slot: SlotInfo) -> str | None:
    if not slot.variable.name.startswith("#"):
        return slot.variable.name
    return slot.set.name if isinstance(slot.set, SetType) else None


def flatten(op: str, expr: Expr) -> Iterator[Expr]:
    """The operands of nested applications of one associative operator."""
    if isinstance(expr, Operation) and expr.op == op:
        for argument in expr.arguments:
            yield from flatten(op, argument)
    else:
        yield expr


def conjuncts(guard: Expr | None) -> list[Expr]:
    """The parts of a conjunction; none for no guard."""
    return [] if guard is None else list(flatten("and", guard))


def elements_bound(program: Program, terms: Terms, expr: Part, outer: int, sizes: dict[int, int]) -> int:
    """At most how many instances the aggregates inside an expression have, over ``outer`` instances.

    An aggregate is worked out once per distinct binding of the variables that it mentions; ``sizes``
    bounds the values of each. Terms that all differ are counted value by value.
    """
    if not isinstance(expr, Aggregate):
        return sum(elements_bound(program, terms, part, outer, sizes) for part in parts(expr))
    mentioned = math.prod(sizes.get(uid, outer) for uid in terms.free(expr))
    own = set_sizes(program, expr.scope)
    inner = min(outer, mentioned) * spread(program, expr.scope)
    if expr.kind == "alldifferent":
        inner *= _values_bound(program, expr.body)
    return inner + elements_bound(program, terms, expr.body, inner, {**sizes, **own})


def _values_bound(program: Program, expr: Part) -> int:
    """About how many values an expression takes: those of the largest domain in it, at least 1."""
    most = max((_values_bound(program, part) for part in parts(expr)), default=1)
    if not isinstance(expr, RandomTerm):
        return most
    domain = program.randoms[expr.name].domain
    return max(most, len(BOOLEAN) if domain is None else _set_size(program, domain))


def spread(program: Program, scope: Scope) -> int:
    """About how many instances a scope has inside one outer instance, at least 1."""
    return math.prod(max(1, rows_bound(program, binding)) for binding in scope.bindings)


def set_sizes(program: Program, scope: Scope) -> dict[int, int]:
    """About how many values each variable of a scope takes."""
    return {
        variable.uid: rows_bound(program, binding)
        for binding in scope.bindings
        for variable in variables(binding)
    }


def rows_bound(program: Program, binding: SetBinding | RelationBinding) -> int:
    """About how many rows a binding goes over in one instance."""
    if isinstance(binding, SetBinding):
        return _set_size(program, binding.set)
    return len(program.relations[binding.relation].facts)


def _set_size(program: Program, expr: SetExpr) -> int:
    match expr:
        case SetConst():
            return len(expr.ids)
        case SetType():
            return len(program.types[expr.name].members)
        case SetItems():
            return len(expr.items)
        case SetUnion():
            return sum(_set_size(program, part) for part in expr.parts)
        case SetRange():
            return 16


_PARTIAL = frozenset({"/", "%", "^", "log", "exp", "sqrt", "logit"})
"""Operators that have no value for some numbers, or none that can be held."""


def may_fail(expr: Part) -> bool:
    """Whether an expression may have no value at some instance: an entry that is missing, a division by 0."""
    if isinstance(expr, ParamTerm | Aggregate | SetRange):
        return True
    partial = isinstance(expr, Operation) and expr.op in _PARTIAL
    return partial or any(may_fail(part) for part in parts(expr))


def applies(expr: Part, op: str) -> bool:
    """Whether an operator stands in an expression."""
    mine = isinstance(expr, Operation) and expr.op == op
    return mine or any(applies(part, op) for part in parts(expr))


def random_terms(expr: Part) -> int:
    """How often random terms stand in an expression."""
    return isinstance(expr, RandomTerm) + sum(random_terms(part) for part in parts(expr))
