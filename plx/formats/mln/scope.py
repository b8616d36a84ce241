"""Formulas as trees → formulas whose names are known and of the right type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final, NoReturn

from plx.errors import Diagnostic, Note, PlxError, did_you_mean
from plx.formats.mln import logic, precedence, tree
from plx.formats.mln.choices import Choices
from plx.source import Span

_NUMBERS: Final = "number"


class Scope:
    """Resolves the formulas of one network: its predicates and functions are known, its constants are
    not yet.

    ``marked`` says that variables are written ``?x``, so that every other word is a constant.
    """

    def __init__(
        self,
        predicates: Mapping[str, logic.Predicate],
        functions: Mapping[str, logic.Function],
        marked: bool,
        choices: Choices,
    ) -> None:
        self.predicates = predicates
        self.functions = functions
        self.marked = marked
        self.choices = choices

    def rule(self, chain: tree.Chain) -> tuple[logic.Formula, tuple[logic.Variable, ...]]:
        """A formula and its free variables, each with a type. Raises PlxError."""
        rule = _Rule(self)
        formula = rule.formula(precedence.shape(chain, self.choices.dialect, self.marked), {})
        rule.compare_types(formula)
        return _settled(formula), tuple(rule.free.values())

    def unknown(self, name: tree.Word, known: Mapping[str, object], what: str) -> PlxError:
        """The error for a name that is not declared."""
        listed = f"declared: {', '.join(known)}" if 0 < len(known) <= 20 else None
        hint = did_you_mean(name.text, known) or listed
        return PlxError(Diagnostic(f"the {what} `{name.text}` is not declared", name.span, hint))

    def is_variable(self, word: tree.Word) -> bool:
        return word.kind == "variable" or (word.kind == "name" and not self.marked and word.text[0].islower())


class _Rule:
    """One formula: ``free`` are its variables that no quantifier binds, by their names."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.free: dict[str, logic.Variable] = {}

    # ---------------------------------------------------------- formulas

    def formula(self, node: precedence.Shaped, bound: Mapping[str, logic.Variable]) -> logic.Formula:
        match node:
            case precedence.Connected(operator, parts):
                return logic.Connected(operator, tuple(self.formula(p, bound) for p in parts), span=node.span)
            case precedence.Not(body):
                return logic.Not(self.formula(body, bound), span=node.span)
            case precedence.Bound(kind, names, body):
                return self._quantified(kind, names, body, bound, node.span)
            case tree.Compared(left, operator, right):
                terms = self._term(left, None, bound), self._term(right, None, bound)
                return logic.Comparison(terms[0], operator, terms[1], span=node.span)
            case tree.Call():
                return self._atom(node, bound)
            case tree.Word():
                return self._atom(tree.Call(node, (), span=node.span), bound)

    def _quantified(
        self,
        kind: str,
        names: tuple[tree.Word, ...],
        body: precedence.Shaped,
        bound: Mapping[str, logic.Variable],
        span: Span,
    ) -> logic.Formula:
        for name in names:
            if not self.scope.is_variable(name):
                _fail(f"`{name.text}` is a constant here: a quantifier binds variables", name.span)
        variables = {name.text: logic.Variable(name.text, name.span) for name in names}
        inner = self.formula(body, {**bound, **variables})
        self.compare_types(inner)
        for variable in variables.values():
            if variable.type is None:
                _fail(
                    f"the variable `{variable.name}` is bound here and stands in no predicate", variable.span
                )
        return logic.Bound(kind, tuple(variables.values()), inner, span=span)  # type: ignore[arg-type]

    def _atom(self, call: tree.Call, bound: Mapping[str, logic.Variable]) -> logic.Atom:
        predicate = self.scope.predicates.get(call.name.text)
        if predicate is None or call.name.kind != "name":
            raise self.scope.unknown(call.name, self.scope.predicates, "predicate")
        _check_count(call, predicate.slots, "predicate", predicate.span)
        terms = zip(call.arguments, predicate.slots, strict=True)
        arguments = tuple(self._term(term, slot.type, bound) for term, slot in terms)
        return logic.Atom(predicate.name, arguments, span=call.span)

    # ------------------------------------------------------------- terms

    def _term(self, term: tree.Term, type: str | None, bound: Mapping[str, logic.Variable]) -> logic.Term:
        if isinstance(term, tree.Call):
            return self._value(term, type, bound)
        if term.mark:
            _fail(f"`{term.mark}` after an argument belongs into the declaration of a predicate", term.span)
        if not self.scope.is_variable(term):
            if term.plus:
                _fail("`+` stands before a variable", term.span)
            return logic.Constant(term.text, term.kind == "text", type, span=term.span)
        variable = bound.get(term.text) or self.free.setdefault(
            term.text, logic.Variable(term.text, term.span)
        )
        variable.plus |= term.plus
        self._set(variable, type, term.span)
        return variable

    def _value(self, call: tree.Call, type: str | None, bound: Mapping[str, logic.Variable]) -> logic.Value:
        function = self.scope.functions.get(call.name.text)
        if function is None:
            if call.name.text in self.scope.predicates:
                _fail(f"`{call.name.text}` is a predicate, and stands where a term does", call.span)
            raise self.scope.unknown(call.name, self.scope.functions, "function")
        _check_count(call, function.slots, "function", function.span)
        if type is not None and function.returns != type:
            note = Note(f"`{function.name}` is declared here", function.span)
            _fail(
                f"`{call.name.text}` gives a `{function.returns}`, and a `{type}` stands here",
                call.span,
                note,
            )
        terms = zip(call.arguments, function.slots, strict=True)
        arguments = tuple(self._term(term, slot.type, bound) for term, slot in terms)
        return logic.Value(function.name, arguments, span=call.span)

    def _set(self, variable: logic.Variable, type: str | None, span: Span) -> None:
        if type is None or variable.type == type:
            return
        if variable.type is not None:
            message = f"the variable `{variable.name}` is a `{type}` here and a `{variable.type}` elsewhere"
            _fail(message, span, Note("there", variable.span))
        variable.type = type
        variable.span = span

    # -------------------------------------------------------- comparisons

    def compare_types(self, formula: logic.Formula) -> None:
        """Let variables take the types of what they are compared with."""
        comparisons = [atom for atom in logic.atoms(formula) if isinstance(atom, logic.Comparison)]
        for _ in comparisons:
            for comparison in comparisons:
                for one, other in _both_ways(comparison):
                    if isinstance(one, logic.Variable) and self._type(other):
                        self._set(one, self._type(other), one.span if one.type else comparison.span)

    def _type(self, term: logic.Term) -> str | None:
        if isinstance(term, logic.Value):
            return self.scope.functions[term.function].returns
        return term.type


def _both_ways(comparison: logic.Comparison) -> Iterator[tuple[logic.Term, logic.Term]]:
    yield comparison.left, comparison.right
    yield comparison.right, comparison.left


def _settled(formula: logic.Formula) -> logic.Formula:
    """The formula with a type for each constant that is compared. Raises PlxError for one that has none."""
    match formula:
        case logic.Comparison(left, operator, right):
            terms = _typed(left, right), _typed(right, left)
            return logic.Comparison(terms[0], operator, terms[1], span=formula.span)
        case logic.Not(body):
            return replace(formula, body=_settled(body))
        case logic.Bound(_, _, body):
            return replace(formula, body=_settled(body))
        case logic.Connected(_, parts):
            return replace(formula, parts=tuple(map(_settled, parts)))
        case _:
            return formula


def _typed(term: logic.Term, other: logic.Term) -> logic.Term:
    if isinstance(term, logic.Value):
        return term
    if term.type is None and isinstance(term, logic.Constant) and isinstance(other, logic.Variable):
        term = replace(term, type=other.type)
    if term.type is None:
        name = term.name if isinstance(term, logic.Variable) else term.text
        _fail(f"`{name}` has no type: it stands in no predicate of this formula", term.span)
    return term


def _check_count(call: tree.Call, slots: tuple[logic.Slot, ...], what: str, declared: Span) -> None:
    if len(call.arguments) != len(slots):
        given = f"{len(call.arguments)} argument{'s' * (len(call.arguments) != 1)}"
        note = Note("declared here", declared)
        _fail(f"the {what} `{call.name.text}` has {len(slots)} places, and {given} here", call.span, note)


def _fail(message: str, span: Span, *notes: Note) -> NoReturn:
    raise PlxError(Diagnostic(message, span, notes=notes))
