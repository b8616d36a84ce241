"""A network → a program of plx, as a tree for the checker and as a text for people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import prod

from plx.errors import Diagnostic, PlxError
from plx.formats.mln import logic
from plx.formats.mln.choices import Choices
from plx.formats.mln.names import Names, is_integer
from plx.formats.mln.observed import complete, observations
from plx.formats.mln.prior import prior
from plx.formats.mln.rules import RuleWriter
from plx.formats.mln.weights import exact
from plx.formats.mln.write import Writer, constant, key, literal
from plx.source import Span
from plx.syntax import ast


@dataclass
class Section:
    """Statements under one comment."""

    comment: str
    statements: list[ast.Statement] = field(default_factory=list)


@dataclass(frozen=True)
class Translation:
    """A program in sections, and what should be said about it."""

    sections: tuple[Section, ...]
    notes: tuple[Diagnostic, ...]
    renamed: tuple[tuple[str, str], ...]

    @property
    def statements(self) -> tuple[ast.Statement, ...]:
        return tuple(statement for section in self.sections for statement in section.statements)


def translate(network: logic.Network, choices: Choices) -> Translation:
    """The program of a network. Raises PlxError with everything in it that plx does not do."""
    return _Translator(network, choices).translation()


class _Translator:
    def __init__(self, network: logic.Network, choices: Choices) -> None:
        self.network = network
        self.choices = choices
        self.names = Names(network)
        self.mistakes: list[Diagnostic] = []
        self.facts: dict[str, list[logic.Fact]] = defaultdict(list)
        for fact in network.facts:
            self.facts[fact.predicate].append(fact)
        self.asked = set(self._asked())
        self.closed = {name for name, p in network.predicates.items() if self._is_closed(p)}

    def translation(self) -> Translation:
        cnf, trained = self.choices.weights == "cnf", self.choices.trained == "all"
        rules = RuleWriter(self.network, self.names, cnf, trained, prior(self.choices.prior))
        sections = [
            Section("", [self._type(domain) for domain in self.network.domains.values() if domain.members]),
            Section("Given: what is not listed is false.", self._given()),
            Section("Unknown.", self._unknowns()),
            Section("Rules.", self._rules(rules)),
            Section("Evidence.", self._evidence()),
            Section("Queries.", self._queries(rules)),
        ]
        if self.mistakes:
            raise PlxError(self.mistakes)
        kept = tuple(section for section in sections if section.statements)
        notes = (*self.network.warnings, *self._notes(rules))
        return Translation(kept, notes, tuple(self.names.changed))

    # --------------------------------------------------------- closed worlds

    @property
    def _complete(self) -> bool:
        """Whether all that the databases do not list is observed to be false."""
        return self.choices.world == "closed"

    def _asked(self) -> Iterable[str]:
        for question in self.network.questions:
            if question.predicate is not None:
                yield question.predicate
            elif question.rule is not None:
                for atom in logic.atoms(question.rule.formula):
                    if isinstance(atom, logic.Atom):
                        yield atom.predicate

    def _is_closed(self, predicate: logic.Predicate) -> bool:
        name = predicate.name
        if predicate.weighs or predicate.star or name in self.choices.closed:
            if name in self.asked:
                self._wrong(f"`{name}` is closed: it is known, and cannot be asked for", predicate.span)
            return True
        return self.choices.world == "evidence" and bool(self.facts[name]) and name not in self.asked

    # ---------------------------------------------------------- declarations

    def _type(self, domain: logic.Domain) -> ast.Statement:
        members = list(domain.members.values())
        name = ast.Name(self.names.types[domain.name], span=domain.span)
        return ast.TypeDecl(name, (), self._members(members, domain.span), span=domain.span)

    def _members(self, members: Sequence[logic.Constant], span: Span) -> ast.Expr:
        numbers = [int(c.text) for c in members if is_integer(c)]
        if len(numbers) == len(members) > 2 and all(b == a + 1 for a, b in pairwise(numbers)):
            first, last = (constant(member, self.names) for member in (members[0], members[-1]))
            return ast.Binary("..", first, last, span=span)
        entries = tuple(ast.Entry(constant(c, self.names), span=c.span) for c in members)
        return ast.Braces(entries, span=span)

    def _slots(self, slots: Iterable[logic.Slot]) -> tuple[ast.Slot, ...]:
        return tuple(ast.Slot(ast.Name(self.names.types[s.type], span=s.span), span=s.span) for s in slots)

    def _given(self) -> list[ast.Statement]:
        found: list[ast.Statement] = [
            self._function(function) for function in self.network.functions.values()
        ]
        for predicate in self.network.predicates.values():
            if predicate.name in self.closed:
                if predicate.weighs:
                    found.append(self._weights(predicate))
                elif predicate.value is None:
                    found.append(self._relation(predicate))
                else:
                    self._check_complete(predicate)
        return found

    def _relation(self, predicate: logic.Predicate) -> ast.Statement:
        name, span = ast.Name(self.names.predicates[predicate.name], span=predicate.span), predicate.span
        listed = [fact for fact in self.facts[predicate.name] if fact.holds]
        if not predicate.slots:
            return ast.ParamDecl(name, (), ast.Truth(bool(listed), span=span), span=span)
        entries = tuple(self._entry(fact.arguments, fact.span) for fact in listed)
        return ast.RelationDecl(name, self._slots(predicate.slots), ast.Braces(entries, span=span), span=span)

    def _entry(self, arguments: Sequence[logic.Constant], span: Span) -> ast.Entry:
        return ast.Entry(key(arguments, self.names, span), span=span)

    def _weights(self, predicate: logic.Predicate) -> ast.Statement:
        """A predicate whose last argument is a number, as a param; facts for one index add up."""
        totals: dict[tuple[str, ...], Fraction] = defaultdict(Fraction)
        first: dict[tuple[str, ...], logic.Fact] = {}
        for fact in self.facts[predicate.name]:
            if fact.holds:
                index = tuple(argument.text for argument in fact.arguments[:-1])
                totals[index] += exact(fact.arguments[-1])
                first.setdefault(index, fact)
        name, span = ast.Name(self.names.predicates[predicate.name], span=predicate.span), predicate.span
        slots = self._slots(predicate.slots[:-1])
        if not slots:
            return ast.ParamDecl(name, (), literal(totals[()], span), span=span)
        entries = [
            ast.Entry(
                literal(totals[index], fact.span),
                key(fact.arguments[:-1], self.names, fact.span),
                span=fact.span,
            )
            for index, fact in first.items()
        ]
        if len(entries) < prod(len(self.network.domains[s.type].members) for s in predicate.slots[:-1]):
            entries.append(ast.Entry(literal(Fraction(0), span), otherwise=True, span=span))
        return ast.ParamDecl(name, slots, ast.Braces(tuple(entries), span=span), span=span)

    def _function(self, function: logic.Function) -> ast.Statement:
        """A function as a relation of its arguments and its value."""
        span = function.span
        name = ast.Name(self.names.functions[function.name], span=span)
        listed = [value for value in self.network.values if value.function == function.name]
        if not listed:
            hint = f"list its values: `B = {function.name}(A)`"
            self._wrong(f"the function `{function.name}` has no values", span, hint)
        entries = tuple(self._entry((*value.arguments, value.value), value.span) for value in listed)
        slots = self._slots((*function.slots, logic.Slot(function.returns, "", span)))
        return ast.RelationDecl(name, slots, ast.Braces(entries, span=span), span=span)

    def _check_complete(self, predicate: logic.Predicate) -> None:
        """A closed predicate with a ``!`` must have a value everywhere."""
        others = [slot for i, slot in enumerate(predicate.slots) if i != predicate.value]
        wanted = prod(len(self.network.domains[slot.type].members) for slot in others)
        known = sum(fact.holds for fact in self.facts[predicate.name])
        if known < wanted:
            absent = f"{wanted - known:,} of {wanted:,} are absent"
            message = f"`{predicate.name}` is closed and has a `!`, so every value must be listed: {absent}"
            self._wrong(message, predicate.span)

    def _unknowns(self) -> list[ast.Statement]:
        found: list[ast.Statement] = []
        for predicate in self.network.predicates.values():
            if predicate.name in self.closed and predicate.value is None:
                continue
            others = [slot for i, slot in enumerate(predicate.slots) if i != predicate.value]
            name, span = ast.Name(self.names.predicates[predicate.name], span=predicate.span), predicate.span
            domain = None
            if predicate.value is not None:
                slot = predicate.slots[predicate.value]
                domain = ast.Name(self.names.types[slot.type], span=slot.span)
            found.append(ast.RandomDecl(name, self._slots(others), domain, None, span=span))
            found += self._at_most_one(predicate)
        return found

    def _at_most_one(self, predicate: logic.Predicate) -> list[ast.Statement]:
        """``P(t, s?)`` of pracmln: at most one s for each t."""
        at = next((i for i, slot in enumerate(predicate.slots) if slot.mark == "?"), None)
        if at is None:
            return []
        writer, span = Writer(self.network, self.names), predicate.span
        variables = [logic.Variable("x", slot.span, type=slot.type) for slot in predicate.slots]
        scope = writer.scope([v for i, v in enumerate(variables) if i != at], span)
        inner = writer.scope([variables[at]], span)
        assert inner is not None
        count = ast.Aggregate("count", writer.atom(predicate.name, variables, span), inner, span=span)
        return [
            ast.Require(
                ast.Compare((count, literal(Fraction(1), span)), ("<=",), span=span), scope, span=span
            )
        ]

    # ------------------------------------------------------- rules, evidence

    def _rules(self, rules: RuleWriter) -> list[ast.Statement]:
        found: list[ast.Statement] = []
        for number, rule in enumerate(self.network.rules, start=1):
            try:
                found += rules.statements(rule, number)
            except PlxError as error:
                self.mistakes += error.diagnostics
        return found

    def _evidence(self) -> list[ast.Statement]:
        known = {name for name in self.closed if self.network.predicates[name].value is None}
        if not self._complete:
            facts = [fact for fact in self.network.facts if fact.predicate not in known]
            return [*observations(self.network, self.names, facts)]
        found: list[ast.Statement] = []
        for name, predicate in self.network.predicates.items():
            if name in self.choices.hidden:
                found += observations(self.network, self.names, self.facts[name])
            elif name not in known:
                found += complete(self.network, self.names, predicate, self.facts[name])
        return found

    def _queries(self, rules: RuleWriter) -> list[ast.Statement]:
        known = self.closed if not self._complete else set(self.network.predicates) - set(self.choices.hidden)
        open_ones = [name for name in self.network.predicates if name not in known]
        questions = self.network.questions or [
            logic.Question(name, None, self.network.predicates[name].span) for name in open_ones
        ]
        found: list[ast.Statement] = []
        for question in questions:
            try:
                if question.rule is not None:
                    found.append(rules.question(question.rule))
                elif question.predicate is not None:
                    found.append(self._whole(self.network.predicates[question.predicate], question.span))
            except PlxError as error:
                self.mistakes += error.diagnostics
        return found

    def _whole(self, predicate: logic.Predicate, span: Span) -> ast.Query:
        """A query for every atom of a predicate; for the value where it has a ``!``."""
        writer = Writer(self.network, self.names)
        others = [slot for i, slot in enumerate(predicate.slots) if i != predicate.value]
        letters = ["x", "y", "z", "u", "v", "w", *(f"x{i}" for i in range(7, len(others) + 1))]
        variables = [
            logic.Variable(a, slot.span, type=slot.type) for a, slot in zip(letters, others, strict=False)
        ]
        word = ast.Name(self.names.predicates[predicate.name], span=span)
        index = tuple(writer.term(variable) for variable in variables)
        target: ast.Expr = ast.Apply(word, index, span=span) if index else word
        return ast.Query(target, None, writer.scope(variables, span), (), span=span)

    # --------------------------------------------------------------- notes

    def _notes(self, rules: RuleWriter) -> Iterable[Diagnostic]:
        if self.choices.weights is None and rules.shared:
            count = len(rules.shared) - 1
            more = f", nor are {count} other rules" * (count > 1) + ", nor is one other rule" * (count == 1)
            message = (
                f"this is not one clause{more}; Alchemy shares the weight among the clauses, plx does not"
            )
            hint = "`--weights cnf` shares it; `--weights whole` is what is done, without this note"
            yield Diagnostic(message, rules.shared[0], hint, severity="note")
        half = [name for name, facts in self.facts.items() if facts and self._stays_open(name)]
        if self.choices.world is None and half:
            names = ", ".join(f"`{name}`" for name in half)
            message = f"atoms of {names} that are not in the evidence are unknown; in Alchemy they are false"
            hint = f"`--closed {','.join(half)}` makes them false; `--world evidence` does as Alchemy"
            yield Diagnostic(message, hint=hint, severity="note")
        if rules.zero_logs:
            message = "`logx(0)` makes its formula impossible here; ProbCog and pracmln take the weight −100"
            yield Diagnostic(message, rules.zero_logs[0], severity="note")

    def _stays_open(self, name: str) -> bool:
        """Whether a predicate of truth values is open, though nobody asks for it."""
        return name not in (self.closed | self.asked) and self.network.predicates[name].value is None

    def _wrong(self, message: str, span: Span, hint: str | None = None) -> None:
        self.mistakes.append(Diagnostic(message, span, hint))
