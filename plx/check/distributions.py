"""What stands after the ``~`` of a `random`: rules whose body is the probability of the value at hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from plx.check import build
from plx.check.arguments import checked_arguments, need_fixed
from plx.check.comparisons import equal
from plx.check.context import Context, Env, Wanted, contains, subset
from plx.check.names import use
from plx.check.operators import amount, combined, result
from plx.check.program import (
    BOOLEAN,
    Aggregate,
    Const,
    Membership,
    Operation,
    RandomTerm,
    Rule,
    Scope,
    SetBinding,
    SetConst,
)
from plx.check.scopes import resolve_scope
from plx.check.slots import slot_env
from plx.check.typed import (
    Abbreviation,
    CheckedSlot,
    ParamEntry,
    RandomEntry,
    Typed,
    ValueKind,
    broken,
)
from plx.errors import Note
from plx.source import Span
from plx.syntax import ast
from plx.syntax.foreign import distribution
from plx.values import TRUE, ZERO
from plx.weights import compare

UNIFORM, SOFTMAX, NOISY_OR = "uniform", "softmax", "noisy_or"
"""The distributions by name; a declared name hides them."""


@dataclass(frozen=True)
class _Unknown:
    """The random function that is being given a distribution: its entry, its slots by name, and itself
    at those slots."""

    entry: RandomEntry
    env: Env
    own: Typed

    @property
    def name(self) -> str:
        return self.entry.info.name

    @property
    def is_truth(self) -> bool:
        return self.entry.domain is None

    @property
    def words(self) -> str:
        """Its domain as the program writes it."""
        return "true and false" if self.entry.domain is None else self.entry.domain.words


def check_distribution(ctx: Context, node: ast.RandomDecl) -> list[Rule]:
    """One rule for each case of a `random`; what is wrong is reported."""
    entry = ctx.entries.get(node.name.text)
    if not node.cases or not isinstance(entry, RandomEntry):
        return []
    env, variables = slot_env(entry.slots)
    own = use(ctx, node.name.text, variables, node.name.span)
    assert isinstance(own.expr, RandomTerm)
    unknown = _Unknown(entry, env, replace(own, expr=replace(own.expr, own=True)))
    return list(_rules(ctx, node, unknown))


def _rules(ctx: Context, node: ast.RandomDecl, unknown: _Unknown) -> Iterator[Rule]:
    term = unknown.own.expr
    assert isinstance(term, RandomTerm)
    before = [] if unknown.entry.info.guard is None else [unknown.entry.info.guard]
    slots = tuple(SetBinding(slot.variable, slot.set, span=term.span) for slot in unknown.entry.info.slots)
    for case in node.cases:
        body, scores = _chances(ctx, unknown, case.chances)
        guards = list(before)
        if case.condition is not None:
            condition = ctx.formula(unknown.env, case.condition)
            hint = "what depends on an unknown is `p * F + q * (!F)`, or a param with a slot for it"
            condition = need_fixed(ctx, condition, "the conditions of a distribution", hint)
            if condition.broken:
                return
            guards.append(condition.expr)
            before.append(build.operation(ctx, "not", [condition.expr], case.condition.span))
        if not body.broken:
            guard = build.operation(ctx, "and", guards, term.span) if guards else None
            kept = None if isinstance(guard, Const) and guard.id == TRUE else guard
            yield Rule("random", body.expr, Scope(slots, kept), node.span, unknown=term, scores=scores)


def _chances(ctx: Context, unknown: _Unknown, node: ast.Expr | ast.Causes) -> tuple[Typed, bool]:
    """The probability of the value of the unknown, or its score, and whether it is a score."""
    if isinstance(node, ast.Causes):
        return _noisy_or(ctx, unknown, node), False
    if isinstance(node, ast.Name) and node.text == UNIFORM and _is_free(ctx, unknown, UNIFORM):
        return ctx.const_id(ZERO, node.span), True
    if isinstance(node, ast.Apply) and node.name.text == SOFTMAX and _is_free(ctx, unknown, SOFTMAX):
        if len(node.arguments) != 1:
            hint = "`softmax({a: E, else: 0})`, or `softmax(p(…))` for a param `p` with one slot more"
            return ctx.fail(node.span, f"`softmax` takes one argument, not {len(node.arguments)}", hint), True
        return _spread(ctx, unknown, node.arguments[0], scores=True), True
    return _spread(ctx, unknown, node, scores=False), False


def _is_free(ctx: Context, unknown: _Unknown, name: str) -> bool:
    return name not in ctx.declarations and name not in unknown.env


def _spread(ctx: Context, unknown: _Unknown, node: ast.Expr, scores: bool) -> Typed:
    """A table over the values, a param with a slot for the value, or a number for an unknown that is true
    or false."""
    if isinstance(node, ast.Braces):
        return _table(ctx, unknown, node)
    slots = _slots(ctx, unknown, node)
    given = node.arguments if isinstance(node, ast.Apply) else ()
    if slots is not None and len(slots) == len(given) + 1:
        return _with_value(ctx, unknown, node, slots)
    if isinstance(node, ast.Apply) and _is_free(ctx, unknown, node.name.text):
        if node.name.text == UNIFORM:
            return ctx.fail(
                node.span, "`uniform` takes no arguments", f"`random {unknown.name}: 1..6 ~ uniform`"
            )
        if node.name.text == NOISY_OR:
            message = "a cause of `noisy_or` is written with the probability that it is enough"
            return ctx.fail(
                node.span, message, "`noisy_or(leak, p1: F, p2: G)`, `noisy_or(leak, p: F for x in T)`"
            )
        hint = _by_another_name(unknown, node)
        if hint is not None:
            return ctx.fail(node.name.span, f"there is no distribution `{node.name.text}`", hint)
    typed = ctx.resolve(unknown.env, node)
    if typed.broken:
        return typed
    if not unknown.is_truth:
        return ctx.fail(node.span, *_no_distribution(unknown, typed))
    chance = amount(ctx, typed)
    if chance.broken:
        return chance
    if scores:
        holds = result(ctx, "indicator", [unknown.own], ValueKind.NUMBER, node.span)
        return result(ctx, "*", [chance, holds], ValueKind.NUMBER, node.span)
    chance = _within(ctx, chance)
    return result(ctx, "chance", [unknown.own, chance], ValueKind.NUMBER, node.span)


def _by_another_name(unknown: _Unknown, node: ast.Apply) -> str | None:
    """What to write for a distribution of another language."""
    chance = node.arguments[0].span.text if len(node.arguments) == 1 else "p"
    return distribution(node.name.text, unknown.name, chance)


def _no_distribution(unknown: _Unknown, typed: Typed) -> tuple[str, str]:
    message = f"a distribution over {unknown.words} is expected here, this is {typed.kind.words}"
    name = unknown.name
    return message, f"`random {name}: … ~ {{a: 0.3, else: 0.1}}`, `uniform`, or a param with one slot more"


def _within(ctx: Context, chance: Typed) -> Typed:
    """A number that is known already must be a probability."""
    if not isinstance(chance.expr, Const) or chance.broken:
        return chance
    value = ctx.values[chance.expr.id]
    if compare(value, 0) >= 0 >= compare(value, 1):  # type: ignore[arg-type]
        return chance
    hint = "a score of any size is turned into probabilities by `softmax`"
    return ctx.fail(chance.expr.span, f"a probability lies in 0..1, this is {ctx.text(chance.expr.id)}", hint)


# ------------------------------------------------------------------------- tables by value


def _table(ctx: Context, unknown: _Unknown, node: ast.Braces) -> Typed:
    """``{a: 0.3, b: p(x), home(x): 0.5, else: 0.1}``; where two keys are one value, the first one counts."""
    parts: list[Typed] = []
    keys: dict[int, Span] = {}
    named: list[Typed] = []
    otherwise: ast.Entry | None = None
    for entry in node.entries:
        if entry.otherwise:
            if otherwise is not None:
                ctx.error(entry.span, "a table has one `else`")
            otherwise = entry
            continue
        key = _key(ctx, unknown, entry)
        number = _number(ctx, unknown, entry)
        if key.broken:
            return broken(node.span)
        known = isinstance(key.expr, Const)
        if isinstance(key.expr, Const) and not _fresh(ctx, unknown, key.expr, keys):
            return broken(node.span)
        where = _own_value(ctx, unknown, key, entry.span)
        if where.broken:
            return where
        before = _others(ctx, unknown, {} if known else keys, named, entry.span)
        parts.append(_weighed(ctx, _all(ctx, [where, *before], entry.span), number))
        if isinstance(key.expr, Const):
            keys[key.expr.id] = key.expr.span
        else:
            named.append(key)
    if otherwise is not None:
        outside = _all(ctx, _others(ctx, unknown, keys, named, otherwise.span), otherwise.span)
        parts.append(_weighed(ctx, outside, _number(ctx, unknown, otherwise)))
    elif not _complete(ctx, unknown, node, keys, named):
        return broken(node.span)
    if any(part.broken for part in parts):
        return broken(node.span)
    return parts[0] if len(parts) == 1 else _mixed(ctx, parts, node.span)


def _key(ctx: Context, unknown: _Unknown, entry: ast.Entry) -> Typed:
    """The value that an entry is about; as everywhere, a slot hides a symbol that is called alike."""
    if entry.key is None:
        return ctx.fail(entry.span, "a distribution is a table: write `value: probability`")
    is_slot = isinstance(entry.key, ast.Name) and entry.key.text in unknown.env
    if isinstance(entry.key, ast.Name | ast.Quoted) and not is_slot:
        symbol = ctx.symbol(entry.key.text)
        if symbol is not None:
            return ctx.const_id(symbol, entry.key.span)
    wanted = Wanted(unknown.own.possible, f"value of `{unknown.name}`")
    return ctx.resolve(unknown.env, entry.key, wanted)


def _fresh(ctx: Context, unknown: _Unknown, key: Const, keys: Mapping[int, Span]) -> bool:
    """Whether a known value is one that the unknown may have, and stands in the table for the first time."""
    possible = BOOLEAN if unknown.is_truth else unknown.own.possible
    if possible is not None and not contains(possible, key.id):
        message = f"`{unknown.name}` cannot be {ctx.text(key.id)}"
        ctx.error(key.span, message, f"its values: {unknown.words}")
    elif key.id in keys:
        note = Note("the first one is here", keys[key.id])
        ctx.error(key.span, f"`{ctx.text(key.id)}` stands twice in this table", None, [note])
    else:
        return True
    return False


def _complete(
    ctx: Context, unknown: _Unknown, node: ast.Braces, keys: Mapping[int, Span], named: Sequence[Typed]
) -> bool:
    if named:
        message = f"which values this table leaves out depends on `{named[0].expr.span.text}`"
        ctx.error(node.span, message, "say how likely the others are with an `else`")
        return False
    possible = BOOLEAN if unknown.is_truth else unknown.own.possible
    missing = [] if possible is None else [value for value in possible.tolist() if value not in keys]
    if missing:
        message = f"there is no probability for {ctx.texts(missing)}"
        ctx.error(node.span, message, "add it, with 0 where it is impossible, or give an `else`")
    return not missing


def _number(ctx: Context, unknown: _Unknown, entry: ast.Entry) -> Typed:
    return amount(ctx, ctx.resolve(unknown.env, entry.value))


def _own_value(ctx: Context, unknown: _Unknown, key: Typed, span: Span) -> Typed:
    """Where the unknown has the value of a key."""
    if unknown.is_truth and isinstance(key.expr, Const) and key.expr.id in BOOLEAN:
        return (
            unknown.own if key.expr.id == TRUE else result(ctx, "not", [unknown.own], ValueKind.TRUTH, span)
        )
    return equal(ctx, "=", unknown.own, key, span)


def _others(
    ctx: Context, unknown: _Unknown, keys: Mapping[int, Span], named: Sequence[Typed], span: Span
) -> list[Typed]:
    """That the value of the unknown is none of these keys."""
    found = [_own_value(ctx, unknown, key, span) for key in named]
    if keys:
        listed = SetConst(tuple(keys), span=span)
        member = Membership(unknown.own.expr, listed, span=unknown.own.expr.span)
        found.append(Typed(member, ValueKind.TRUTH, fixed=False))
    return [result(ctx, "not", [one], ValueKind.TRUTH, span) for one in found]


def _all(ctx: Context, parts: Sequence[Typed], span: Span) -> Typed:
    if not parts:
        return ctx.const_id(TRUE, span)
    return parts[0] if len(parts) == 1 else result(ctx, "and", parts, ValueKind.TRUTH, span)


def _weighed(ctx: Context, where: Typed, number: Typed) -> Typed:
    """The number where a formula holds, else 0."""
    span = number.expr.span
    holds = result(ctx, "indicator", [where], ValueKind.NUMBER, span)
    return result(ctx, "*", [number, holds], ValueKind.NUMBER, span)


def _mixed(ctx: Context, parts: Sequence[Typed], span: Span) -> Typed:
    exprs = tuple(part.expr for part in parts)
    return combined(ctx, lambda: Operation("mix", exprs, span=span), parts, ValueKind.NUMBER, span)


# ----------------------------------------------------------------- params with a slot more


def _slots(ctx: Context, unknown: _Unknown, node: ast.Expr) -> Sequence[CheckedSlot] | None:
    """The slots of the param or define that is named, if one is."""
    name = node.name.text if isinstance(node, ast.Apply) else node.text if isinstance(node, ast.Name) else ""
    entry = None if name in unknown.env else ctx.entries.get(name)
    return entry.slots if isinstance(entry, ParamEntry | Abbreviation) else None


def _with_value(ctx: Context, unknown: _Unknown, node: ast.Expr, slots: Sequence[CheckedSlot]) -> Typed:
    """``p(a, b)`` where p takes the value of the unknown as its last argument."""
    name = node.name if isinstance(node, ast.Apply) else node
    assert isinstance(name, ast.Name)
    given = node.arguments if isinstance(node, ast.Apply) else ()
    call = ast.Apply(name, given, span=node.span)
    arguments = checked_arguments(ctx, unknown.env, call, slots[:-1], random_ok=True)
    if arguments is None or not _takes(ctx, unknown, node, slots[-1]):
        return broken(node.span)
    return ctx.need(use(ctx, name.text, [*arguments, unknown.own], node.span), ValueKind.NUMBER)


def _takes(ctx: Context, unknown: _Unknown, node: ast.Expr, slot: CheckedSlot) -> bool:
    """Whether the last slot takes every value of the unknown."""
    domain, taken = unknown.entry.domain, slot.ranged.possible
    values = BOOLEAN if domain is None else domain.possible
    if slot.ranged.broken or values is None or taken is None or subset(values, taken):
        return not slot.ranged.broken
    lacking = [value for value in values.tolist() if value not in taken]
    message = f"`{unknown.name}` may be {ctx.texts(lacking)}, which is no member of {slot.ranged.words}"
    hint = "the last slot of what stands after `~` takes the value"
    ctx.error(node.span, message, hint, [Note("the slot is declared here", slot.span)])
    return False


# ------------------------------------------------------------------------------ noisy or


def _noisy_or(ctx: Context, unknown: _Unknown, node: ast.Causes) -> Typed:
    """1 - (1 - leak) · Π (1 - p), over the causes that hold."""
    if node.name.text != NOISY_OR or not _is_free(ctx, unknown, NOISY_OR):
        return ctx.fail(node.name.span, f"`{node.name.text}` takes no causes: `noisy_or(leak, p: F)` does")
    if not unknown.is_truth:
        message = f"`noisy_or` is for unknowns that are true or false, and `{unknown.name}` is not"
        return ctx.fail(node.span, message, f"its values: {unknown.words}")
    misses = [_missed(ctx, _probability(ctx, unknown.env, node.leak))]
    *plain, last = node.causes
    misses += [_cause(ctx, unknown.env, cause) for cause in plain]
    if node.scope is None:
        misses.append(_cause(ctx, unknown.env, last))
    else:
        scope, inner, wrong = resolve_scope(ctx, unknown.env, node.scope)
        body = broken(node.span) if wrong else _cause(ctx, inner, last)
        whole = Aggregate("product", body.expr, scope, span=node.span)
        misses.append(
            body if body.broken else combined(ctx, lambda: whole, [body], ValueKind.NUMBER, node.span)
        )
    missed = result(ctx, "*", misses, ValueKind.NUMBER, node.span)
    return result(ctx, "chance", [unknown.own, _missed(ctx, missed)], ValueKind.NUMBER, node.span)


def _cause(ctx: Context, env: Env, cause: ast.Entry) -> Typed:
    """The probability that a cause has no effect: 1 - p where it holds, else 1."""
    assert cause.key is not None
    chance = _probability(ctx, env, cause.key)
    holds = result(ctx, "indicator", [ctx.formula(env, cause.value)], ValueKind.NUMBER, cause.value.span)
    return _missed(ctx, result(ctx, "*", [chance, holds], ValueKind.NUMBER, cause.span))


def _probability(ctx: Context, env: Env, node: ast.Expr) -> Typed:
    return _within(ctx, amount(ctx, ctx.resolve(env, node)))


def _missed(ctx: Context, chance: Typed) -> Typed:
    """1 less a probability."""
    one = ctx.const(1, chance.expr.span)
    return result(ctx, "-", [one, chance], ValueKind.NUMBER, chance.expr.span)
