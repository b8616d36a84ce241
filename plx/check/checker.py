"""Check a syntax tree: resolve every name, type every expression, evaluate every type and table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from plx.check import comparisons, constraints, names, operators, scopes
from plx.check.affine import warn_unused
from plx.check.context import Context, Declaration, Resolver
from plx.check.declaration_order import checking_order
from plx.check.declarations import check_define, check_param, check_random, check_relation, introduce_domains
from plx.check.distributions import check_distribution
from plx.check.fixed import NoValueError
from plx.check.ignoring import unignored
from plx.check.learned import check_learn
from plx.check.observations import check_observation, check_observe, given_evidence
from plx.check.partial import hides_members
from plx.check.program import Evidence, Program, Query, Rule
from plx.check.statements import check_query, check_rule, report_labels
from plx.check.typed import (
    BrokenEntry,
    Entry,
    ParamEntry,
    RandomEntry,
    RelationEntry,
    TypeEntry,
)
from plx.check.types import check_type
from plx.check.warnings import warn
from plx.data.table import Data
from plx.errors import Note, PlxError
from plx.source import Span
from plx.syntax import ast
from plx.values import Values
from plx.weights import WeightError

_RESOLVERS: Final[Mapping[type, Resolver]] = {
    ast.Name: names.name,
    ast.Quoted: names.quoted,
    ast.Number: names.number,
    ast.Truth: names.truth,
    ast.Apply: names.application,
    ast.Unary: operators.unary,
    ast.Binary: operators.binary,
    ast.Compare: comparisons.compare,
    ast.Member: comparisons.member,
    ast.Aggregate: scopes.aggregate,
    ast.Constraint: constraints.constraint,
    ast.Tuple: scopes.misplaced,
    ast.Braces: scopes.misplaced,
}

_CHECKS: Final[Mapping[type, Callable[[Context, Any], Entry]]] = {
    ast.TypeDecl: check_type,
    ast.ParamDecl: check_param,
    ast.RelationDecl: check_relation,
    ast.RandomDecl: check_random,
    ast.DefineDecl: check_define,
    ast.LearnDecl: check_learn,
}


_STATEMENTS: Final[Mapping[type, Callable[[Context, Any], Rule | list[Rule] | Evidence | Query | None]]] = {
    ast.RandomDecl: check_distribution,
    ast.Weight: check_rule,
    ast.Factor: check_rule,
    ast.Require: check_rule,
    ast.Observe: check_observe,
    ast.ObserveFrom: check_observation,
    ast.Query: check_query,
}


def check(module: ast.Module, data: Data, values: Values) -> Program:
    """The program of a syntax tree and the data it asks for.

    Raises:
        PlxError: with every mistake of the program and of its data, in the order of the text.
    """
    ctx = Context(values, data, {}, _RESOLVERS, unknown_members=hides_members(module))
    ctx.diagnostics += data.problems
    ctx.has_given = any(isinstance(s, ast.Query) and bool(s.given) for s in module.statements)
    ctx.learns = any(isinstance(s, ast.LearnDecl) for s in module.statements)
    ctx.declarations = _declarations(ctx, module)
    _check_declarations(ctx)
    rules, evidence, queries = _check_statements(ctx, module)
    errors = [found for found in ctx.diagnostics if found.severity == "error"]
    if errors:
        raise PlxError(sorted(errors, key=lambda found: _place(found, module)))
    warn(ctx, rules, evidence, queries)
    warn_unused(ctx, [expr for rule in rules for expr in (rule.body, rule.weight) if expr is not None])
    return Program(
        values,
        {name: entry.info for name, entry in ctx.entries.items() if isinstance(entry, TypeEntry)},
        {name: entry.info for name in ctx.entries if (entry := ctx.param(name))},
        {name: entry.info for name, entry in ctx.entries.items() if isinstance(entry, RelationEntry)},
        {name: entry.info for name, entry in ctx.entries.items() if isinstance(entry, RandomEntry)},
        tuple(rules),
        tuple(evidence),
        tuple(queries),
        tuple(sorted(unignored(ctx.diagnostics, module), key=lambda found: _place(found, module))),
        tuple(e.learned for e in ctx.entries.values() if isinstance(e, ParamEntry) and e.learned),
    )


def _place(found: Any, module: ast.Module) -> tuple[int, str, int]:
    """The program first, then files by name, then what has no place."""
    if found.span is None:
        return 2, "", 0
    inside = found.span.source is module.source
    return (0, "", found.span.start) if inside else (1, found.span.source.name, found.span.start)


def _declarations(ctx: Context, module: ast.Module) -> dict[str, Declaration]:
    found: dict[str, Declaration] = {}
    for statement in module.statements:
        if not isinstance(statement, Declaration):
            continue
        name = statement.name
        if name.text in found:
            note = Note("the first one is here", found[name.text].name.span)
            ctx.error(name.span, f"`{name.text}` is declared twice", None, [note])
        else:
            found[name.text] = statement
    return found


def _check_declarations(ctx: Context) -> None:
    introduce_domains(ctx)
    order, cycles = checking_order(ctx.declarations)
    for cycle in cycles:
        _report_cycle(ctx, cycle)
    for name in order:
        if name not in ctx.entries:
            declaration = ctx.declarations[name]
            check_one = _CHECKS[type(declaration)]
            found = _guarded(ctx, declaration.span, lambda c=check_one, d=declaration: c(ctx, d))  # type: ignore[misc]
            ctx.entries[name] = found or BrokenEntry()


def _guarded(ctx: Context, span: Span, run: Callable[[], Any]) -> Any:
    """What ``run`` returns, or None after reporting a value that could not be computed on the way."""
    ctx.instances = 0
    try:
        return run()
    except (NoValueError, WeightError) as mistake:
        ctx.error(span, str(mistake))
    except RecursionError:
        ctx.error(span, "this statement nests too deeply", "split it with `define`")
    return None


def _report_cycle(ctx: Context, cycle: list[str]) -> None:
    first = ctx.declarations[cycle[0]]
    path = " → ".join([*cycle, cycle[0]])
    message = f"`{cycle[0]}` is defined by itself" + (f": {path}" if len(cycle) > 1 else "")
    notes = [Note(f"`{name}` is here", ctx.declarations[name].name.span) for name in cycle[1:]]
    ctx.error(first.name.span, message, "recursion is not possible in this version", notes)
    for name in cycle:
        ctx.entries[name] = BrokenEntry()


def _check_statements(ctx: Context, module: ast.Module) -> tuple[list[Rule], list[Evidence], list[Query]]:
    rules: list[Rule] = []
    queries: list[Query] = []
    evidence = list(given_evidence(ctx, module))
    for statement in module.statements:
        check_one = _STATEMENTS.get(type(statement))
        if check_one is None:
            continue
        found = _guarded(ctx, statement.span, lambda c=check_one, s=statement: c(ctx, s))  # type: ignore[misc]
        if isinstance(found, Rule):
            rules.append(found)
        elif isinstance(found, list):
            rules += found
        elif isinstance(found, Evidence):
            evidence.append(found)
        elif isinstance(found, Query):
            queries.append(found)
    report_labels(ctx, [s for s in module.statements if isinstance(s, ast.Query)])
    return rules, evidence, queries
