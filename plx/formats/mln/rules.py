"""Rules of a network → statements of plx: ``weight``, ``require``, a ``param`` where constants have weights,
and ``learn`` where data decide them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import overload

from plx.errors import Diagnostic, PlxError
from plx.formats.mln import logic
from plx.formats.mln.cnf import clauses, disjunction, is_one_clause
from plx.formats.mln.names import Names
from plx.formats.mln.weights import is_zero_log, meaning, number
from plx.formats.mln.write import Writer, conjunction, literal
from plx.source import Span
from plx.syntax import ast


@dataclass
class RuleWriter:
    """Writes rules; ``split`` shares weights among clauses, ``trained`` has all finite ones learned with a
    ``prior``.

    ``shared`` are the rules for which splitting matters, ``zero_logs`` those with a weight ``logx(0)``.
    """

    network: logic.Network
    names: Names
    split: bool
    trained: bool = False
    prior: ast.Expr | None = None
    shared: list[Span] = field(default_factory=list)
    zero_logs: list[Span] = field(default_factory=list)

    def statements(self, rule: logic.Rule, number: int) -> Iterator[ast.Statement]:
        """What the rule of this number, from 1, is in plx. Raises PlxError for what plx does not do."""
        if rule.source is not None:
            yield from self._weighed_by_facts(rule)
        elif rule.hard:
            yield self._require(rule, rule.formula)
        elif rule.weight is None:
            yield from self._learned(rule, None, number)
        else:
            yield from self._weighted(rule, rule.weight, number)

    def question(self, rule: logic.Rule) -> ast.Query:
        """A query for a formula."""
        formula, scope, _ = self._written(rule, rule.formula, rule.variables)
        return ast.Query(formula, None, scope, (), span=rule.span)

    # ----------------------------------------------------------- weights

    def _weighted(self, rule: logic.Rule, weight: ast.Expr, place: int) -> Iterator[ast.Statement]:
        if is_zero_log(weight):
            self.zero_logs.append(rule.span)
        match meaning(weight, self.names):
            case "must":
                yield self._require(rule, rule.formula)
            case "never":
                yield self._require(rule, logic.Not(rule.formula, span=rule.formula.span))
            case value if self.trained:
                yield from self._learned(rule, value, place)
            case value:
                yield from self._soft(rule, rule.formula, value, number(weight) == 0)

    def _learned(self, rule: logic.Rule, start: ast.Expr | None, number: int) -> Iterator[ast.Statement]:
        """``learn w3`` with what uses it; one for each clause where formulas are split, as in Alchemy."""
        pluses = [variable for variable in rule.variables if variable.plus]
        parts, variables = self._parts(rule.formula, rule.variables, False)
        for k, part in enumerate(parts, start=1):
            wanted = f"w{number}_{k}" if len(parts) > 1 else f"w{number}"
            name = ast.Name(self.names.fresh(wanted), span=rule.span)
            slots = self._slots(pluses)
            value = _shared(start, len(parts), rule.span)
            yield ast.LearnDecl(name, slots, value, self.prior, span=rule.span)
            written, scope, writer = self._written(rule, part, variables)
            yield ast.Weight(writer.applied(name.text, pluses, rule.span), written, scope, span=rule.span)

    def _soft(
        self, rule: logic.Rule, formula: logic.Formula, weight: ast.Expr, without_effect: bool
    ) -> Iterator[ast.Statement]:
        pluses = [variable for variable in rule.variables if variable.plus]
        parts, variables = self._parts(formula, rule.variables, without_effect)
        weight = _shared(weight, len(parts), rule.span)
        table = self._table(rule, pluses, weight) if pluses else None
        if table is not None:
            yield table
        for part in parts:
            written, scope, writer = self._written(rule, part, variables)
            value = weight if table is None else writer.applied(table.name.text, pluses, rule.span)
            yield ast.Weight(value, written, scope, span=rule.span)

    def _parts(
        self, formula: logic.Formula, variables: Sequence[logic.Variable], without_effect: bool
    ) -> tuple[list[logic.Formula], tuple[logic.Variable, ...]]:
        """The formula, or its clauses where they share the weight."""
        if not self.split:
            if not without_effect and not is_one_clause(formula):
                self.shared.append(formula.span)
            return [formula], tuple(variables)
        found, universal = clauses(formula)
        if len(found) == 1 and not universal:
            return [formula], tuple(variables)
        return [disjunction(clause) for clause in found], (*variables, *universal)

    def _table(self, rule: logic.Rule, pluses: Sequence[logic.Variable], weight: ast.Expr) -> ast.ParamDecl:
        """``param w1(f: fruit) = 0.8``: a weight per constant, all alike."""
        name = ast.Name(self.names.fresh("w"), span=rule.span)
        return ast.ParamDecl(name, self._slots(pluses), weight, span=rule.span)

    def _slots(self, pluses: Sequence[logic.Variable]) -> tuple[ast.Slot, ...]:
        writer = Writer(self.network, self.names)
        return tuple(
            ast.Slot(
                ast.Name(self.names.types[variable.type or ""], span=variable.span),
                ast.Name(writer.variables[variable], span=variable.span),
                span=variable.span,
            )
            for variable in pluses
        )

    def _require(self, rule: logic.Rule, formula: logic.Formula) -> ast.Statement:
        written, scope, _ = self._written(rule, formula, rule.variables)
        return ast.Require(written, scope, span=rule.span)

    # ------------------------------------------------------- weights of facts

    def _weighed_by_facts(self, rule: logic.Rule) -> Iterator[ast.Statement]:
        """``c: !conf(x, c) v P(x)`` of rockIt: each fact gives an instance, with its last argument as
        the weight."""
        assert rule.source is not None
        atom, rest = _without_source(rule.formula, rule.source)
        for other in logic.atoms(rest):
            if isinstance(other, logic.Atom) and rule.source in other.arguments:
                raise _not_weighed(rule)
        used = {id(v) for a in (*logic.atoms(rest), atom) for v in variables_of(a)} - {id(rule.source)}
        variables = tuple(v for v in rule.variables if id(v) in used)
        parts, variables = self._parts(rest, variables, False)
        for part in parts:
            written, scope, writer = self._written(rule, part, variables)
            value = writer.applied(self.names.predicates[atom.predicate], atom.arguments[:-1], rule.span)
            yield ast.Weight(_shared(value, len(parts), rule.span), written, scope, span=rule.span)

    # ------------------------------------------------------------ formulas

    def _written(
        self, rule: logic.Rule, formula: logic.Formula, variables: Sequence[logic.Variable]
    ) -> tuple[ast.Expr, ast.Scope | None, _RuleFormula]:
        """A formula in plx with its scope; values of functions are variables, with a guard that says of
        what."""
        writer = _RuleFormula(self.network, self.names)
        free = {id(variable) for variable in variables}
        values: dict[logic.Value, logic.Variable] = {}
        flat = _flat(formula, free, values, self.network)
        guards = [writer.guard(value, variable, values) for value, variable in values.items()]
        needed = [variable for variable in variables if variable is not rule.source]
        for weighs in logic.atoms(flat):
            if isinstance(weighs, logic.Atom) and self.network.predicates[weighs.predicate].weighs:
                raise _not_weighed(rule)
        guard = conjunction(guards, rule.span)
        scope = writer.scope([*needed, *values.values()], rule.span, guard)
        return writer.formula(flat), scope, writer


@overload
def _shared(weight: ast.Expr, count: int, span: Span) -> ast.Expr: ...
@overload
def _shared(weight: None, count: int, span: Span) -> None: ...
@overload
def _shared(weight: ast.Expr | None, count: int, span: Span) -> ast.Expr | None: ...
def _shared(weight: ast.Expr | None, count: int, span: Span) -> ast.Expr | None:
    """The share of a weight that each of so many clauses has."""
    if weight is None or count == 1:
        return weight
    return ast.Binary("/", weight, literal(Fraction(count), span), span=span)


class _RuleFormula(Writer):
    """A writer of formulas with weights and functions."""

    def applied(self, name: str, terms: Sequence[logic.Term], span: Span) -> ast.Expr:
        """A param of terms."""
        word = ast.Name(name, span=span)
        arguments = tuple(self.term(term) for term in terms)
        return ast.Apply(word, arguments, span=span) if arguments else word

    def guard(
        self, value: logic.Value, variable: logic.Variable, values: Mapping[logic.Value, logic.Variable]
    ) -> ast.Expr:
        """``f(x, v)``: v is what f gives for x."""
        terms = [values[t] if isinstance(t, logic.Value) else t for t in value.arguments]
        arguments = tuple(self.term(term) for term in (*terms, variable))
        word = ast.Name(self.names.functions[value.function], span=value.span)
        return ast.Apply(word, arguments, span=value.span)


def variables_of(atom: logic.Atom | logic.Comparison) -> Iterator[logic.Variable]:
    """The variables of an atom, those in functions too."""
    terms = atom.arguments if isinstance(atom, logic.Atom) else (atom.left, atom.right)
    yield from _variables(terms)


def _variables(terms: Sequence[logic.Term]) -> Iterator[logic.Variable]:
    for term in terms:
        if isinstance(term, logic.Variable):
            yield term
        elif isinstance(term, logic.Value):
            yield from _variables(term.arguments)


def _flat(
    formula: logic.Formula,
    free: set[int],
    values: dict[logic.Value, logic.Variable],
    network: logic.Network,
) -> logic.Formula:
    """The formula with a variable in the place of each function of terms."""

    def flat(term: logic.Term) -> logic.Term:
        if not isinstance(term, logic.Value):
            return term
        if any(id(variable) not in free for variable in _variables(term.arguments)):
            raise PlxError(Diagnostic("a function of a quantified variable is not read", term.span))
        for argument in term.arguments:
            flat(argument)
        function = network.functions[term.function]
        variable = logic.Variable(function.name[0].lower(), term.span, type=function.returns)
        return values.setdefault(term, variable)

    match formula:
        case logic.Atom(_, arguments):
            return replace(formula, arguments=tuple(map(flat, arguments)))
        case logic.Comparison(left, _, right):
            return replace(formula, left=flat(left), right=flat(right))
        case logic.Not(body) | logic.Bound(_, _, body):
            return replace(formula, body=_flat(body, free, values, network))
        case logic.Connected(_, parts):
            return replace(formula, parts=tuple(_flat(part, free, values, network) for part in parts))


def _without_source(formula: logic.Formula, source: logic.Variable) -> tuple[logic.Atom, logic.Formula]:
    """The atom that gives the weight, and the formula where it holds.

    Raises PlxError unless the formula is true wherever it does not.
    """
    match formula:
        case logic.Connected("or", parts):
            found, rest = _taken_out(parts, source, negated=True)
            if found is not None and rest:
                return found, disjunction(rest)
        case logic.Connected("=>", (logic.Connected("and", parts) as before, after)):
            found, rest = _taken_out(parts, source, negated=False)
            if found is not None and rest:
                condition = rest[0] if len(rest) == 1 else replace(before, parts=rest)
                return found, replace(formula, parts=(condition, after))
        case logic.Connected("=>", (before, after)):
            found, _ = _taken_out((before,), source, negated=False)
            if found is not None:
                return found, after
    name = source.name
    message = f"`{name}` weighs a clause with `!P(…, {name})`, or a rule with `P(…, {name}) => …`"
    raise PlxError(Diagnostic(message, formula.span))


def _taken_out(
    parts: Sequence[logic.Formula], source: logic.Variable, negated: bool
) -> tuple[logic.Atom | None, tuple[logic.Formula, ...]]:
    """The one part that is an atom with ``source`` as its last argument, and the others."""
    atoms, rest = [], []
    for part in parts:
        inner = part.body if negated and isinstance(part, logic.Not) else part
        if isinstance(part, logic.Not) == negated and isinstance(inner, logic.Atom) and _gives(inner, source):
            atoms.append(inner)
        else:
            rest.append(part)
    return (atoms[0] if len(atoms) == 1 else None), tuple(rest)


def _gives(atom: logic.Atom, source: logic.Variable) -> bool:
    return bool(atom.arguments) and atom.arguments[-1] is source


def _not_weighed(rule: logic.Rule) -> PlxError:
    message = (
        "a predicate with a number as its last argument gives the weight of a rule, `c: !conf(x, c) v P(x)`"
    )
    return PlxError(Diagnostic(message, rule.span))
