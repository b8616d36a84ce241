"""Names, literals and applications → what they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from plx.check import build, fixed
from plx.check.affine import mentions_learned
from plx.check.arguments import checked_arguments, count, possible_at, signature
from plx.check.constraints import EXAMPLES
from plx.check.context import MAX_DEPTH, MAX_EXPANSION, Context, Env, Wanted
from plx.check.operators import FUNCTIONS, apply_function
from plx.check.program import Expr, RandomTerm, Variable
from plx.check.substitute import RandomArgumentError, substitute
from plx.check.tabulate import tabulated
from plx.check.typed import (
    Abbreviation,
    BrokenEntry,
    ParamEntry,
    RandomEntry,
    RelationEntry,
    Typed,
    TypeEntry,
    ValueKind,
    broken,
)
from plx.errors import Note
from plx.source import Span
from plx.syntax import ast
from plx.syntax.foreign import FUNCTIONS as FUNCTIONS_ELSEWHERE
from plx.syntax.foreign import PROBABILITIES, VALUES, distribution
from plx.syntax.printer import quoted as quoted_text
from plx.weights import WeightError


def name(ctx: Context, env: Env, node: ast.Expr, wanted: Wanted | None) -> Typed:
    """A bare word: a bound variable, else a declared name without slots, else a symbol."""
    assert isinstance(node, ast.Name)
    bound = env.get(node.text)
    if bound is not None and not isinstance(bound.expr, Variable):
        return broken(node.span)
    if bound is not None:
        assert isinstance(bound.expr, Variable)
        return replace(bound, expr=Variable(bound.expr.uid, node.text, span=node.span))
    declaration = ctx.declarations.get(node.text)
    if declaration is not None and not declaration.slots and not isinstance(declaration, ast.TypeDecl):
        return use(ctx, node.text, (), node.span)
    symbol = ctx.symbol(node.text)
    if symbol is not None:
        return ctx.const_id(symbol, node.span)
    if declaration is not None:
        return _bare(ctx, node, declaration)
    return _unknown(ctx, env, node, wanted)


def _bare(ctx: Context, node: ast.Name, declaration: ast.Statement) -> Typed:
    if isinstance(declaration, ast.TypeDecl):
        hint = f"bind a variable to its members: `for x in {node.text}`"
        return ctx.fail(node.span, f"`{node.text}` is a type; a value is expected here", hint)
    entry = ctx.entries.get(node.text)
    slots = getattr(entry, "slots", None)
    if not slots:
        return broken(node.span)
    message = f"`{node.text}` takes {count(len(slots))}"
    return ctx.fail(node.span, message, f"it is declared as {signature(node.text, slots)}")


def _unknown(ctx: Context, env: Env, node: ast.Name, wanted: Wanted | None) -> Typed:
    hint = ctx.suggest(node.text, wanted.possible if wanted else None, [*env, *ctx.declarations])
    if ctx.unknown_members and (wanted is None or wanted.possible is None):
        return broken(node.span)
    if wanted and wanted.possible is not None:
        message = f"`{node.text}` is no {wanted.what}, nor a bound variable or a declared name"
        listed = ctx.listing(wanted.possible)
        bind = (
            f"bind it with `for {node.text} in {wanted.set}`, or use one of: "
            if wanted.set
            else "its values: "
        )
        hint = hint or bind + listed
    else:
        message = f"`{node.text}` is neither bound by a `for`, nor declared, nor a member of a type"
    if hint != f"did you mean `{node.text.lower()}`?":
        hint = VALUES.get(node.text, hint)
    return ctx.fail(node.span, message, hint)


def quoted(ctx: Context, env: Env, node: ast.Expr, wanted: Wanted | None) -> Typed:
    """A quoted symbol, which some type or domain must have."""
    assert isinstance(node, ast.Quoted)
    symbol = ctx.symbol(node.text)
    if symbol is not None:
        return ctx.const_id(symbol, node.span)
    hint = ctx.suggest(node.text, wanted.possible if wanted else None, ())
    if ctx.unknown_members and (wanted is None or wanted.possible is None):
        return broken(node.span)
    hint = hint or f"a symbol needs a type that has it: `type Other = {{{quoted_text(node.text)}}}`"
    return ctx.fail(node.span, f"{quoted_text(node.text)} is a member of no type", hint)


def number(ctx: Context, env: Env, node: ast.Expr, wanted: Wanted | None) -> Typed:
    """An exact number."""
    assert isinstance(node, ast.Number)
    value = node.value
    return ctx.const(value.numerator if value.denominator == 1 else value, node.span)


def truth(ctx: Context, env: Env, node: ast.Expr, wanted: Wanted | None) -> Typed:
    """``true`` or ``false``."""
    assert isinstance(node, ast.Truth)
    return ctx.const(node.value, node.span)


# --------------------------------------------------------------------- applications


def application(ctx: Context, env: Env, node: ast.Expr, wanted: Wanted | None) -> Typed:
    """A declared name or a built-in function with arguments."""
    assert isinstance(node, ast.Apply)
    text = node.name.text
    entry = ctx.entries.get(text)
    if text in env:
        message = f"`{text}` is a bound variable here, it takes no arguments"
        return ctx.fail(node.name.span, message, None, [env[text].note])
    if isinstance(entry, TypeEntry):
        hint = f"`x in {text}(…)` asks whether x is a member"
        return ctx.fail(node.span, f"`{text}` is a type; a value is expected here", hint)
    if isinstance(entry, BrokenEntry):
        for argument in node.arguments:
            ctx.resolve(env, argument)
        return broken(node.span)
    if entry is None:
        return _undeclared(ctx, env, node)
    arguments = checked_arguments(ctx, env, node, entry.slots, not isinstance(entry, RandomEntry))
    return broken(node.span) if arguments is None else use(ctx, text, arguments, node.span)


def _undeclared(ctx: Context, env: Env, node: ast.Apply) -> Typed:
    text = node.name.text
    if text in FUNCTIONS and text not in ctx.declarations:
        return apply_function(ctx, env, node)
    for argument in node.arguments:
        ctx.resolve(env, argument)
    if text in ctx.declarations:
        return broken(node.span)
    if ctx.symbol(text) is not None:
        return ctx.fail(node.span, f"`{text}` is a symbol, it takes no arguments")
    callable_ = [n for n, d in ctx.declarations.items() if d.slots]
    hint = (
        _over_scope(text)
        or _elsewhere(ctx, node)
        or ctx.suggest(text, None, [*callable_, *ctx.declarations, *FUNCTIONS])
    )
    if hint is None and callable_:
        hint = f"declared are: {', '.join(callable_[:8])}" + (", …" if len(callable_) > 8 else "")
    return ctx.fail(node.name.span, f"`{text}` is not declared", hint)


def _over_scope(text: str) -> str | None:
    """What a constraint without its scope wants."""
    return f"write `{EXAMPLES[text]}`" if text in EXAMPLES else None


def _elsewhere(ctx: Context, node: ast.Apply) -> str | None:
    """What to write for a function of another language, unless a declared name differs in case alone."""
    text = node.name.text
    if any(name.casefold() == text.casefold() for name in ctx.declarations):
        return None
    if text not in PROBABILITIES or not node.arguments:
        return FUNCTIONS_ELSEWHERE.get(text) or distribution(text)
    asked = node.arguments[0]
    if isinstance(asked, ast.Binary) and asked.op == "or":
        fact, condition = asked.left.span.text, asked.right.span.text
        return f"`query {fact} given {condition}` asks for the probability of the one under the other"
    fact = asked.span.text
    return f"`query {fact}` asks for its probability; `random {fact} ~ p` gives it one"


def use(ctx: Context, text: str, arguments: Sequence[Typed], span: Span) -> Typed:
    """A declared name with arguments that have been checked."""
    entry = ctx.entries.get(text)
    exprs = [argument.expr for argument in arguments]
    depth = 1 + max((argument.depth for argument in arguments), default=0)
    size = 1 + sum(argument.size for argument in arguments)
    known = all(argument.fixed for argument in arguments)
    try:
        match entry:
            case RandomEntry():
                return replace(_random(ctx, entry, exprs, span), depth=depth, size=size)
            case ParamEntry():
                if entry.learned and not ctx.may_learn:
                    return _misplaced(ctx, text, span)
                return replace(_entry_of(ctx, entry, exprs, span), fixed=known, depth=depth, size=size)
            case RelationEntry():
                expr = build.relation_term(ctx, text, exprs, span)
                return Typed(expr, ValueKind.TRUTH, fixed=known, depth=depth, size=size)
            case Abbreviation():
                return _expand(ctx, entry, arguments, span)
    except fixed.NoValueError as mistake:
        return ctx.fail(span, str(mistake))
    return broken(span)


def _misplaced(ctx: Context, text: str, span: Span) -> Typed:
    hint = "put what depends on it into the weight: `weight w * E: F`, `factor w * E`"
    return ctx.fail(span, f"`{text}` is learned: it may stand in the E of a `weight` or `factor` only", hint)


def _entry_of(ctx: Context, entry: ParamEntry, arguments: Sequence[Expr], span: Span) -> Typed:
    expr = build.param_term(ctx, entry.info.name, arguments, span)
    return Typed(expr, entry.kind, entry.possible, strict=False, note=entry.note)


def _random(ctx: Context, entry: RandomEntry, arguments: list[Expr], span: Span) -> Typed:
    term = RandomTerm(entry.info.name, tuple(arguments), span=span)
    domain = entry.domain
    if domain is None:
        return Typed(term, ValueKind.TRUTH, fixed=False)
    mapped = {slot.variable.uid: a for slot, a in zip(entry.slots, arguments, strict=True)}
    return Typed(
        term,
        domain.kind,
        possible_at(ctx, domain, mapped),
        fixed=False,
        home=domain.home,
        broken=domain.broken,
        note=Note(f"`{entry.info.name}` takes its values in {domain.words}", entry.info.span),
    )


def _expand(ctx: Context, entry: Abbreviation, arguments: Sequence[Typed], span: Span) -> Typed:
    body = entry.body
    if body.broken:
        return broken(span)
    if ctx.learns and not ctx.may_learn and mentions_learned(ctx, body.expr):
        return _misplaced(ctx, entry.name, span)
    depth = body.depth + max((argument.depth for argument in arguments), default=1) - 1
    size = body.size * max((argument.size for argument in arguments), default=1)
    if depth > MAX_DEPTH or size > MAX_EXPANSION:
        message = f"`{entry.name}` expands to a formula that is too large or too deeply nested"
        return ctx.fail(span, message, "give what it abbreviates a `random` of its own with a `require`")
    mapped = {slot.variable.uid: a.expr for slot, a in zip(entry.slots, arguments, strict=True)}
    try:
        expr = substitute(ctx, body.expr, mapped)
    except RandomArgumentError as mistake:
        if body.fixed:
            found = _entry_of(ctx, tabulated(ctx, entry), [a.expr for a in arguments], span)
            return replace(found, fixed=False, depth=depth, size=size)
        inner = mistake.args[0].name
        message = f"`{entry.name}` uses an argument as an index; it must be fixed, but `{inner}` is random"
        hint = f"bind a variable to its value: `exists({inner}(…) = y & {entry.name}(y) … for y in …)`"
        return ctx.fail(span, message, hint)
    except (fixed.NoValueError, WeightError) as mistake:
        return ctx.fail(span, str(mistake), None, [Note(f"in `{entry.name}`", entry.span)])
    is_fixed = body.fixed and all(argument.fixed for argument in arguments)
    return replace(body, expr=replace(expr, span=span), fixed=is_fixed, depth=depth, size=size)
