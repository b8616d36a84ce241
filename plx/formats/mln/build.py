"""The tree of one statement, out of the parser's rules. Each method is called as its rule is reduced."""

from __future__ import annotations

import re
from typing import Any, Final

from lark import Transformer

from plx.errors import Diagnostic, PlxError
from plx.formats.mln import tree
from plx.source import Span
from plx.syntax import ast
from plx.syntax.build import exact_number
from plx.syntax.words import Word

_COMPARE: Final[dict[str, ast.CompareOp]] = {"=": "=", "==": "=", "=/=": "!="}
_CONNECTIVES: Final = {"v": "or", "|": "or", "^": "and", "&": "and", "=>": "=>", "<=>": "<=>"}
_KINDS: Final[dict[str, tree.WordKind]] = {
    "NAME": "name",
    "VARIABLE": "variable",
    "STRING": "text",
    "NUMBER": "number",
    "ELLIPSIS": "ellipsis",
}
_LONGEST_RUN: Final = 10_000_000
_INTEGER: Final = re.compile(r"-?\d{1,18}", re.ASCII)


class Builder(Transformer[Any, Any]):
    """Builds the nodes of statements."""

    def _of(self, items: list[Any]) -> Span:
        return items[0].span.to(items[-1].span)  # type: ignore[no-any-return]

    # ------------------------------------------------------------ words

    def _word(self, word: Word, plus: bool = False, mark: str = "") -> tree.Word:
        kind, text = _KINDS[word.type], word.text
        if kind in ("variable", "text"):
            text = text[1:] if kind == "variable" else text[1:-1]
        return tree.Word(text, kind, plus, mark, span=word.span)

    def word(self, items: list[Any]) -> tree.Word:
        return self._word(items[0])

    def signed(self, items: list[Any]) -> tree.Word:
        sign = "-" if items[0].text == "-" else ""
        return tree.Word(sign + items[1].text, "number", span=self._of(items))

    def plus(self, items: list[Any]) -> tree.Word:
        if items[0].text == "-":
            raise PlxError(
                Diagnostic("terms are not computed: `-` stands before a number alone", self._of(items))
            )
        return self._word(items[1], plus=True)

    def marked(self, items: list[Any]) -> tree.Word:
        return self._word(items[0], mark=items[1].text)

    def terms(self, items: list[Any]) -> list[tree.Term]:
        return items[::2]

    def call(self, items: list[Any]) -> tree.Call:
        arguments = items[2] if isinstance(items[2], list) else []
        return tree.Call(self._word(items[0]), tuple(arguments), span=self._of(items))

    # ---------------------------------------------------------- formulas

    def first(self, items: list[Any]) -> list[Any]:
        return list(items)

    def more(self, items: list[Any]) -> list[Any]:
        found: list[Any] = items[0]
        found += items[1:]
        return found

    def chain(self, items: list[Any]) -> tree.Chain:
        items = [*(items[0] if len(items) > 1 else ()), items[-1]]
        operators = tuple(_CONNECTIVES[word.text] for word in items[1::2])
        return tree.Chain(tuple(items[::2]), operators, span=self._of(items))

    def formula(self, items: list[Any]) -> tree.Chain:
        return items[0]  # type: ignore[no-any-return]

    def negated(self, items: list[Any]) -> tree.Negated:
        return tree.Negated(items[1], span=self._of(items))

    def compared(self, items: list[Any]) -> tree.Compared:
        left, sign, right = items
        return tree.Compared(left, _COMPARE.get(sign.text, sign.text), right, span=self._of(items))

    def group(self, items: list[Any]) -> tree.Group:
        return tree.Group(items[1], span=self._of(items))

    def quantified(self, items: list[Any]) -> tree.Quantified:
        names = tuple(self._word(item) for item in items[1:-1] if item.type in _KINDS)
        kind = "forall" if items[0].text.lower() == "forall" else "exists"
        return tree.Quantified(kind, names, items[-1], span=self._of(items))  # type: ignore[arg-type]

    # ----------------------------------------------------------- weights

    def literal(self, items: list[Any]) -> ast.Expr:
        return ast.Number(exact_number(items[0]), span=items[0].span)

    def arithmetic(self, items: list[Any]) -> ast.Expr:
        return ast.Binary(items[1].text, items[0], items[2], span=self._of(items))

    def minus(self, items: list[Any]) -> ast.Expr:
        return ast.Unary(items[0].text, items[1], span=self._of(items))

    def inner(self, items: list[Any]) -> ast.Expr:
        return items[1]  # type: ignore[no-any-return]

    def computed(self, items: list[Any]) -> ast.Expr:
        name = ast.Name(items[0].text, span=items[0].span)
        return ast.Apply(name, (items[2],), span=self._of(items))

    def type_name(self, items: list[Any]) -> ast.Expr:
        return ast.Name(items[0].text, span=items[0].span)

    def text(self, items: list[Any]) -> ast.Expr:
        return ast.Quoted(items[0].text[1:-1], span=items[0].span)

    # -------------------------------------------------------- statements

    def statement(self, items: list[Any]) -> tree.Statement:
        return items[0]  # type: ignore[no-any-return]

    def fact(self, items: list[Any]) -> tree.Statement:
        return items[0]  # type: ignore[no-any-return]

    def question(self, items: list[Any]) -> tree.Chain:
        return items[0]  # type: ignore[no-any-return]

    def signature(self, items: list[Any]) -> list[tree.Term]:
        return items[1] if isinstance(items[1], list) else []

    def closed(self, items: list[Any]) -> tree.Declaration:
        slots = items[2] if len(items) > 2 else []
        return tree.Declaration(
            self._word(items[1]), self._slots(slots), True, span=items[0].span.to(items[1].span)
        )

    def function(self, items: list[Any]) -> tree.Declaration:
        name, returns = self._word(items[1]), self._word(items[0])
        return tree.Declaration(name, self._slots(items[3]), returns=returns, span=self._of(items))

    def _slots(self, terms: list[tree.Term]) -> tuple[tree.Word, ...]:
        for term in terms:
            if not (isinstance(term, tree.Word) and term.kind == "name" and not term.plus):
                raise PlxError(Diagnostic("a declaration lists the names of types", term.span))
        return tuple(terms)  # type: ignore[arg-type]

    def include(self, items: list[Any]) -> tree.Include:
        return tree.Include(self._word(items[1]), span=self._of(items))

    def _rule(self, items: list[Any], formula: int, **more: Any) -> tree.Rule:
        return tree.Rule(items[formula], hard=len(items) > formula + 1, span=self._of(items), **more)

    def unweighted(self, items: list[Any]) -> tree.Statement:
        return self._rule(items, 0)

    def weighted(self, items: list[Any]) -> tree.Rule:
        return self._rule(items, 1, weight=items[0])

    def weighted_useful(self, items: list[Any]) -> tree.Rule:
        return self._rule(items, 3, weight=items[0], utility=items[2])

    def useful(self, items: list[Any]) -> tree.Rule:
        return self._rule(items, 2, utility=items[1])

    def weight_of_fact(self, items: list[Any]) -> tree.Rule:
        return self._rule(items, 2, source=self._word(items[0]))

    def domain(self, items: list[Any]) -> tree.Domain:
        name, members = self._word(items[0]), [item for item in items[3:-1] if isinstance(item, tree.Word)]
        return tree.Domain(name, tuple(self._written_out(members)), span=self._of(items))

    def _written_out(self, members: list[tree.Word]) -> list[tree.Word]:
        """The members of a domain, with ``1, ..., 20`` as twenty numbers."""
        at = next((i for i, word in enumerate(members) if word.kind == "ellipsis"), None)
        if at is None:
            return members
        ends = [members[i].text for i in (at - 1, at + 1) if 0 <= i < len(members)]
        if len(members) != 3 or at != 1 or not all(_INTEGER.fullmatch(end) for end in ends):
            message = "`...` stands between the first and the last of a run of integers, as in `{1, ..., 20}`"
            raise PlxError(Diagnostic(message, members[at].span))
        first, last = map(int, ends)
        if first > last or last - first > _LONGEST_RUN:
            message = (
                "this run has no member" if first > last else f"this run has {last - first + 1:,} members"
            )
            raise PlxError(Diagnostic(message, members[0].span.to(members[2].span)))
        between = [tree.Word(str(n), "number", span=members[at].span) for n in range(first + 1, last)]
        return [members[0], *between, *members[2:][: last > first]]

    # ---------------------------------------------------------- databases

    def plain_fact(self, items: list[Any]) -> tree.Fact:
        return tree.Fact(self._atom(items[-1]), len(items) == 1, span=self._of(items))

    def _atom(self, operand: tree.Term) -> tree.Call:
        if isinstance(operand, tree.Call):
            return operand
        if operand.kind != "name":
            raise PlxError(
                Diagnostic("a database lists ground atoms, one a line", operand.span, "`Smokes(Anna)`")
            )
        return tree.Call(operand, (), span=operand.span)

    def value_fact(self, items: list[Any]) -> tree.Value:
        left, _, right = items
        call, value = (left, right) if isinstance(left, tree.Call) else (right, left)
        if not isinstance(call, tree.Call) or not isinstance(value, tree.Word):
            raise PlxError(Diagnostic("a value is given as `Bob = father(Anna)`", self._of(items)))
        return tree.Value(call, value, span=self._of(items))

    def soft_fact(self, items: list[Any]) -> tree.Fact:
        atom, chance = items[-1].span.text, items[0].span.text
        hint = f"as a prior it is a rule of the .mln: `log({chance}/(1 - {chance})) {atom}`"
        raise PlxError(Diagnostic(f"soft evidence on `{atom}` is not read", self._of(items), hint))
