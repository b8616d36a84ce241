"""What a program may say but probably does not mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from plx.check.context import Context
from plx.check.program import (
    Aggregate,
    Const,
    Evidence,
    Expr,
    Operation,
    Query,
    RandomTerm,
    RelationBinding,
    Rule,
    Scope,
    SetBinding,
    SetConst,
    Variable,
)
from plx.check.substitute import substitute
from plx.check.typed import RandomEntry, RelationEntry
from plx.check.walk import parts, scope_exprs
from plx.source import Span
from plx.values import FALSE


def warn(ctx: Context, rules: Sequence[Rule], evidence: Sequence[Evidence], queries: Sequence[Query]) -> None:
    """Report rules without instances, equal variables in hard rules, and unknowns without rules."""
    for rule in rules:
        reason = _empty(ctx, rule.scope)
        if reason:
            ctx.warn("PLX101", rule.span, f"this rule has no instances: {reason}")
        elif rule.kind == "require":
            _equal_variables(ctx, rule)
    _unused_variables(ctx, rules, queries)
    if rules:
        _unused(ctx, rules, evidence, queries)


def _empty(ctx: Context, scope: Scope) -> str | None:
    for binding in scope.bindings:
        if isinstance(binding, RelationBinding):
            entry = ctx.entries[binding.relation]
            if isinstance(entry, RelationEntry) and not len(entry.info.facts):
                return f"the relation `{binding.relation}` has no facts"
        elif isinstance(binding.set, SetConst) and not binding.set.ids:
            return f"`{binding.set.span.text}` is empty"
    if isinstance(scope.guard, Const) and scope.guard.id == FALSE:
        return "its guard is always false"
    return None


# ------------------------------------------------------------------- unknowns without rules


def _unused(
    ctx: Context, rules: Sequence[Rule], evidence: Sequence[Evidence], queries: Sequence[Query]
) -> None:
    ruled = _mentioned(rule.body for rule in rules) | {seen.random for seen in evidence}
    ruled |= {rule.unknown.name for rule in rules if rule.unknown is not None}
    worlds = [query.part for query in queries if query.part is not None]
    asked = _mentioned([*worlds, *(expr for query in queries for expr in (*query.targets, *query.given))])
    for name, entry in ctx.entries.items():
        if isinstance(entry, RandomEntry) and name not in ruled:
            what = "all its values are equally likely" if name in asked else "it is never used"
            ctx.warn("PLX102", entry.info.span, f"no rule mentions `{name}`: {what}")


def _mentioned(exprs: Iterable[Expr]) -> set[str]:
    return {part.name for expr in exprs for part in parts(expr) if isinstance(part, RandomTerm)}


# ------------------------------------------------------------------------- unused variables


def _unused_variables(ctx: Context, rules: Sequence[Rule], queries: Sequence[Query]) -> None:
    unused: dict[Span, str] = {}
    for rule in rules:
        inside = [part for part in (rule.weight, rule.body, rule.unknown) if part is not None]
        unused.update(_idle(rule.scope, inside))
    roots = [rule.body for rule in rules] + [expr for query in queries for expr in query.targets]
    for part in (part for root in roots for part in parts(root)):
        if isinstance(part, Aggregate) and not isinstance(part.body, Const):
            unused.update(_idle(part.scope, [part.body]))
    for span, name in unused.items():
        hint = "all that follows is counted once for each of its values"
        ctx.warn("PLX103", span, f"the variable `{name}` is bound but not used", hint)


def _idle(scope: Scope, inside: Sequence[Expr]) -> Iterator[tuple[Span, str]]:
    """Variables over a set of which nothing else in their scope depends."""
    exprs = [*scope_exprs(scope), *inside]
    used = {part.uid for expr in exprs for part in parts(expr) if isinstance(part, Variable)}
    for binding in scope.bindings:
        if isinstance(binding, SetBinding) and binding.variable.uid not in used:
            yield binding.variable.span, binding.variable.name


# -------------------------------------------------------------------------- equal variables


def _equal_variables(ctx: Context, rule: Rule) -> None:
    """``require f(x) | f(y) for x, y in T`` says ``f(x)`` for all x, since x = y is an instance too."""
    if rule.scope.guard is not None:
        return
    bindings = [b for b in rule.scope.bindings if isinstance(b, SetBinding)]
    for at, second in enumerate(bindings):
        for first in bindings[:at]:
            if first.set == second.set and _collapses(ctx, rule.body, first.variable, second.variable):
                x, y = first.variable.name, second.variable.name
                message = f"the instances with {x} = {y} make this rule say more than it seems to"
                hint = f"add `if {x} != {y}` if only pairs of different ones are meant"
                ctx.warn("PLX104", rule.span, message, hint)
                return


def _collapses(ctx: Context, body: Expr, x: Variable, y: Variable) -> bool:
    """Whether a disjunction, or a negated conjunction, has two equal parts once x stands for y."""
    if isinstance(body, Operation) and body.op == "not":
        body = body.arguments[0]
        wanted = "and"
    else:
        wanted = "or"
    if not isinstance(body, Operation) or body.op != wanted:
        return False
    if any(_compares(argument, x, y) for argument in body.arguments):
        return False
    after = [substitute(ctx, argument, {y.uid: x}) for argument in body.arguments]
    return len(set(after)) < len(set(body.arguments))


def _compares(expr: Expr, x: Variable, y: Variable) -> bool:
    """Whether it is ``x = y`` or ``x != y``: then x = y has been thought of."""
    if not isinstance(expr, Operation) or expr.op not in ("=", "!="):
        return False
    return {part.uid for part in expr.arguments if isinstance(part, Variable)} == {x.uid, y.uid}
