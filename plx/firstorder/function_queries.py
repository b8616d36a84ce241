"""Queries about values that are elements: one about each of them, and their answers together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from plx.check.program import BOOLEAN, Expr, Program, Query, RandomTerm, SetBinding, SetType
from plx.firstorder.function_terms import FunctionTerms
from plx.firstorder.refusal import NotLiftableError, shown
from plx.values import TRUE, IntArray, Values

Shares = tuple[tuple[IntArray, ...], npt.NDArray[Any]]
"""The values of each target, and the probabilities of their joint values, in C order."""


@dataclass(frozen=True, eq=False)
class MembersAsked:
    """What a query asks of values that are elements.

    The query that is answered in its place has a variable more for each of ``axes``: the number of the target
    that has its values, None where only their sum is asked for. ``domains`` are their values.
    """

    query: Query
    axes: tuple[int | None, ...]
    domains: tuple[str, ...]


def translated(terms: FunctionTerms, query: Query) -> tuple[Query, MembersAsked]:
    """A query of each value that its targets may have, whether they have it. Raises NotLiftableError."""
    scope, domains = query.scope, []
    targets: list[Expr] = []
    axes: list[int | None] = []
    for number, target in enumerate(query.targets):
        if isinstance(target, RandomTerm) and terms.is_term(target):
            binding = terms.value(target)
            scope = replace(scope, bindings=(*scope.bindings, binding))
            targets.append(terms.at(target, binding.variable))
            axes.append(number)
        else:
            targets.append(terms.rewritten(target))
    if query.kind == "probability":
        before = len(scope.bindings)
        body, scope = terms.by_cases("probability", targets[0], scope)
        axes += [None] * (len(scope.bindings) - before)
        targets[0] = body
    given = tuple(map(terms.rewritten, query.given))
    for expr in (*targets, *given):
        if (term := terms.first(expr)) is not None:
            raise NotLiftableError(
                f"{shown(query.span)} is not about single values of `{term.name}`", query.span
            )
    for one in scope.bindings[len(query.scope.bindings) :]:
        assert isinstance(one, SetBinding) and isinstance(one.set, SetType)
        domains.append(one.set.name)
    told = replace(query, targets=tuple(targets), given=given, scope=scope)
    asked = MembersAsked(query, tuple(axes), tuple(domains))
    return replace(told, kind="joint" if len(targets) > 1 else "probability"), asked


def together(
    asked: MembersAsked, program: Program, found: Sequence[Shares], which: IntArray
) -> Iterator[Shares]:
    """The answer to each instance of a query; ``found`` are those to the patterns [P] of what was asked in
    its place, ``which`` those of its instances."""
    domains = [program.types[name].members for name in asked.domains]
    labels, shares = _aligned(program.values, found)
    axes = [number for number in asked.axes if number is not None]
    if len(axes) < len(asked.axes):
        true = np.take(shares, 1, axis=1)[which].reshape(-1, *map(len, domains))
        for one in true.sum(axis=tuple(range(1, true.ndim))):
            yield (BOOLEAN,), np.array([np.maximum(1 - one, 0), one])
        return
    for number in axes:
        shares = np.take(shares, [int(np.flatnonzero(labels[number] == TRUE)[0])], axis=1 + number)
    shares = np.squeeze(shares, axis=tuple(1 + number for number in axes))
    grid = shares[which].reshape(-1, *map(len, domains), *shares.shape[1:])
    grid = np.moveaxis(grid, range(1, 1 + len(axes)), [1 + number for number in axes])
    ends = dict(enumerate(labels)) | dict(zip(axes, domains, strict=True))
    for one in grid:
        yield tuple(ends.values()), one.ravel()


def _aligned(values: Values, found: Sequence[Shares]) -> Shares:
    """Answers to several patterns [P, …] over the same values of each target."""
    targets = [[labels[t] for labels, _ in found] for t in range(len(found[0][0]))]
    ends = [_union(values, labels) for labels in targets]
    out = np.zeros((len(found), *map(len, ends)), dtype=found[0][1].dtype)
    for row, (labels, shares) in enumerate(found):
        places = [
            np.array([end.tolist().index(i) for i in label]) for end, label in zip(ends, labels, strict=True)
        ]
        out[row][np.ix_(*places)] = shares.reshape([len(label) for label in labels])
    return tuple(ends), out


def _union(values: Values, labels: Sequence[IntArray]) -> IntArray:
    """All of some values, in the order of the first where they are the same."""
    if all(np.array_equal(label, labels[0]) for label in labels):
        return labels[0]
    every = np.unique(np.concatenate(labels))
    return every[np.argsort(values.floats(every), kind="stable")]
