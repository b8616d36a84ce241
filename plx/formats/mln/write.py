"""Formulas and constants of a network → expressions of plx."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from plx.formats.mln import logic
from plx.formats.mln.names import Names, RuleNames, is_integer
from plx.source import Span
from plx.syntax import ast


class Writer:
    """Writes the formulas of one rule; ``network`` says what its predicates are."""

    def __init__(self, network: logic.Network, names: Names) -> None:
        self.network = network
        self.names = names
        self.variables = RuleNames(names)

    # ------------------------------------------------------------- terms

    def term(self, term: logic.Term) -> ast.Expr:
        match term:
            case logic.Variable():
                return ast.Name(self.variables[term], span=term.span)
            case logic.Constant():
                return constant(term, self.names)
            case logic.Value():
                raise AssertionError("functions are taken out of formulas before they are written")

    # ---------------------------------------------------------- formulas

    def formula(self, formula: logic.Formula) -> ast.Expr:
        match formula:
            case logic.Atom(name, arguments):
                return self.atom(name, arguments, formula.span)
            case logic.Comparison(left, operator, right):
                return ast.Compare((self.term(left), self.term(right)), (operator,), span=formula.span)
            case logic.Not(body):
                return negation(self.formula(body), formula.span)
            case logic.Connected(operator, (first, *rest)):
                return self._joined(operator, [first, *rest], formula.span)
            case logic.Bound(kind, variables, body):
                scope = self.scope(variables, formula.span)
                assert scope is not None
                return ast.Aggregate(kind, self.formula(body), scope, span=formula.span)
            case _:
                raise AssertionError(formula)

    def _joined(self, operator: ast.BinaryOp, parts: Sequence[logic.Formula], span: Span) -> ast.Expr:
        written = [self.formula(part) for part in parts]
        joined = written[0]
        for part in written[1:]:
            joined = ast.Binary(operator, joined, part, span=span)
        return joined

    def atom(self, name: str, arguments: Sequence[logic.Term], span: Span) -> ast.Expr:
        """A predicate of terms: ``P(x)``, or ``P(x) = y`` where its argument y has a ``!``."""
        predicate = self.network.predicates[name]
        at = predicate.value
        index = tuple(self.term(term) for i, term in enumerate(arguments) if i != at)
        word = ast.Name(self.names.predicates[name], span=span)
        applied: ast.Expr = ast.Apply(word, index, span=span) if index else word
        if at is None:
            return applied
        return ast.Compare((applied, self.term(arguments[at])), ("=",), span=span)

    # ------------------------------------------------------------ scopes

    def scope(
        self, variables: Sequence[logic.Variable], span: Span, guard: ast.Expr | None = None
    ) -> ast.Scope | None:
        """``for x, y in person``; None for no variable."""
        bindings: list[ast.Binding] = []
        for variable in variables:
            name = ast.Name(self.variables[variable], span=variable.span)
            members = ast.Name(self.names.types[variable.type or ""], span=variable.span)
            if bindings and bindings[-1].set == members:
                bindings[-1] = ast.Binding((*bindings[-1].names, name), members, span=variable.span)
            else:
                bindings.append(ast.Binding((name,), members, span=variable.span))
        return ast.Scope(tuple(bindings), guard, span=span) if bindings else None


def constant(term: logic.Constant, names: Names) -> ast.Expr:
    """A constant as a number, a symbol, or a quoted symbol."""
    if is_integer(term):
        return literal(Fraction(term.text), term.span)
    if not term.quoted and names.is_bare(term.text):
        return ast.Name(term.text, span=term.span)
    return ast.Quoted(term.text, span=term.span)


def key(terms: Sequence[logic.Constant], names: Names, span: Span) -> ast.Expr:
    """Constants as the key of an entry: one by itself, several as a tuple."""
    items = tuple(constant(term, names) for term in terms)
    return items[0] if len(items) == 1 else ast.Tuple(items, span=span)


def literal(value: Fraction, span: Span) -> ast.Expr:
    """A number, with its sign as the parser reads it."""
    positive = ast.Number(abs(value), span=span)
    return ast.Unary("-", positive, span=span) if value < 0 else positive


def negation(formula: ast.Expr, span: Span) -> ast.Expr:
    """The negation of a formula; of ``a = b`` it is ``a != b``."""
    if isinstance(formula, ast.Compare) and formula.ops == ("=",):
        return ast.Compare(formula.operands, ("!=",), span=span)
    return ast.Unary("not", formula, span=span)


def conjunction(parts: Sequence[ast.Expr], span: Span) -> ast.Expr | None:
    """All parts; None for none."""
    joined = parts[0] if parts else None
    for part in parts[1:]:
        assert joined is not None
        joined = ast.Binary("and", joined, part, span=span)
    return joined
