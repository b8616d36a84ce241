"""Chains of operands → formulas as trees, by the precedence that the tools agree on, or of the one that
is chosen.

Alchemy, and pracmln with ``?x``: ``^`` before ``v`` before ``=>`` before ``<=>``; a quantifier reaches
to the end of the formula in Alchemy, and over one bracket in pracmln. pracmln without ``?x`` and
ProbCog: ``v`` before ``^``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from plx.errors import Diagnostic, PlxError
from plx.formats.mln import tree
from plx.source import Span

Dialect = Literal["alchemy", "pracmln"]
Operator = Literal["and", "or", "=>", "<=>"]

_CHOOSE: Final = "write brackets, or choose by `--dialect alchemy` or `--dialect pracmln`"


@dataclass(frozen=True, slots=True)
class Connected:
    """Formulas under one operator; ``=>`` has two."""

    operator: Operator
    parts: tuple[Shaped, ...]
    span: Span = field(compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Not:
    """A negation."""

    body: Shaped
    span: Span = field(compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Bound:
    """A quantifier over one formula."""

    kind: Literal["exists", "forall"]
    names: tuple[tree.Word, ...]
    body: Shaped
    span: Span = field(compare=False, repr=False, kw_only=True)


Shaped = Connected | Not | Bound | tree.Compared | tree.Call | tree.Word


def shape(chain: tree.Chain, dialect: Dialect | None, marked: bool) -> Shaped:
    """The tree of a formula; ``marked`` says that the file writes variables as ``?x``.

    Raises PlxError where tools read it differently and no ``dialect`` is chosen.
    """
    return _Shaper(dialect, marked).chain(chain)


@dataclass(frozen=True)
class _Shaper:
    dialect: Dialect | None
    marked: bool

    def chain(self, chain: tree.Chain) -> Shaped:
        parts, operators = self._reach(chain)
        return self._split(parts, operators, chain.span)

    def _reach(self, chain: tree.Chain) -> tuple[list[tree.Part], list[str]]:
        """The operands, with what follows the bracket of a quantifier taken out of it where pracmln would."""
        parts, operators = list(chain.parts), list(chain.operators)
        found = parts[-1]
        if not isinstance(found, tree.Quantified) or not found.body.operators:
            return parts, operators
        first = found.body.parts[0]
        if not isinstance(first, tree.Group) or self.dialect == "alchemy":
            return parts, operators
        if self.dialect is None and not self.marked:
            message = "Alchemy reads this quantifier as reaching to the end, pracmln to its bracket"
            raise PlxError(Diagnostic(message, found.span, _CHOOSE))
        body = tree.Chain((first,), (), span=first.span)
        inner = tree.Quantified(found.kind, found.names, body, span=found.span.to(first.span))
        rest = tree.Chain(found.body.parts[1:], found.body.operators[1:], span=chain.span)
        more, signs = self._reach(rest)
        return [*parts[:-1], inner, *more], [*operators, found.body.operators[0], *signs]

    def _split(self, parts: Sequence[tree.Part], operators: Sequence[str], span: Span) -> Shaped:
        """The tree under the loosest operator."""
        if not operators:
            return self._part(parts[0])
        loosest = self._loosest(operators, span)
        cuts = [i for i, operator in enumerate(operators) if operator == loosest]
        if loosest == "=>" and len(cuts) > 1:
            raise PlxError(Diagnostic("tools read a chain of `=>` differently", span, "write brackets"))
        starts, ends = [0, *(i + 1 for i in cuts)], [*cuts, len(operators)]
        found = tuple(
            self._split(parts[a : b + 1], operators[a:b], parts[a].span.to(parts[b].span))
            for a, b in zip(starts, ends, strict=True)
        )
        return Connected(loosest, found, span=span)

    def _loosest(self, operators: Sequence[str], span: Span) -> Operator:
        if "<=>" in operators:
            return "<=>"
        if "=>" in operators:
            return "=>"
        if "and" in operators and "or" in operators:
            if self.dialect is None and not self.marked:
                message = "Alchemy reads `^` before `v` here, pracmln and ProbCog `v` before `^`"
                raise PlxError(Diagnostic(message, span, _CHOOSE))
            return "and" if self.dialect == "pracmln" and not self.marked else "or"
        return operators[0]  # type: ignore[return-value]

    def _part(self, part: tree.Part) -> Shaped:
        match part:
            case tree.Group(body):
                return self.chain(body)
            case tree.Negated(body):
                return Not(self._part(body), span=part.span)
            case tree.Quantified(kind, names, body):
                return Bound(kind, names, self.chain(body), span=part.span)
            case _:
                return part
