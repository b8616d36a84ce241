"""Statements of the files → a network: declarations first, then rules, then evidence, then what is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from plx.errors import CallError, Diagnostic, Note, PlxError, did_you_mean
from plx.formats.mln import logic, tree
from plx.formats.mln.choices import Choices
from plx.formats.mln.dialects import WFOMC
from plx.formats.mln.files import Statements
from plx.formats.mln.parser import parse_question
from plx.formats.mln.questions import questions
from plx.formats.mln.scope import Scope
from plx.formats.mln.weights import exact
from plx.source import Source, Span


def collect(statements: Statements, choices: Choices) -> logic.Network:
    """The network that the files describe. Raises PlxError with every mistake in them."""
    foreign = [mistake for mistake in statements.mistakes if mistake.message == WFOMC]
    if foreign:
        raise PlxError(foreign)
    found = _Collector(choices)
    found.mistakes += statements.mistakes
    rules = found.declare(statements.program)
    found.resolve(rules)
    found.evidence(statements.evidence)
    found.ask()
    found.look_around()
    errors = [mistake for mistake in found.mistakes if mistake.severity == "error"]
    if errors:
        raise PlxError(sorted(errors, key=_place))
    return logic.Network(
        found.predicates,
        found.functions,
        found.domains,
        tuple(found.rules),
        tuple(found.facts.values()),
        tuple(found.values.values()),
        tuple(found.questions),
        tuple(found.mistakes),
    )


def _place(mistake: Diagnostic) -> tuple[bool, str, int]:
    """Programs before databases, and mistakes of one file in the order of its text."""
    if mistake.span is None:
        return True, "", 0
    name = mistake.span.source.name
    return Path(name).suffix.lower() != ".mln", name, mistake.span.start


class _Collector:
    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self.predicates: dict[str, logic.Predicate] = {}
        self.functions: dict[str, logic.Function] = {}
        self.domains: dict[str, logic.Domain] = {}
        self.rules: list[logic.Rule] = []
        self.facts: dict[tuple[str, tuple[str, ...]], logic.Fact] = {}
        self.valued: dict[tuple[str, tuple[str, ...]], logic.Fact] = {}
        self.values: dict[tuple[str, tuple[str, ...]], logic.FunctionValue] = {}
        self.questions: list[logic.Question] = []
        self.mistakes: list[Diagnostic] = []
        self.scope: Scope

    # ------------------------------------------------------- declarations

    def declare(self, statements: Sequence[tree.Statement]) -> list[tree.Rule]:
        """Take in the declarations; what is left are the rules."""
        rules = []
        for statement in statements:
            with _told(self.mistakes):
                if isinstance(statement, tree.Rule):
                    declaration = _as_declaration(statement)
                    if declaration is None or self._is_formula(declaration):
                        rules.append(statement)
                    else:
                        self._declare(declaration)
                elif isinstance(statement, tree.Declaration):
                    self._declare(statement)
                elif isinstance(statement, tree.Domain):
                    self._domain(statement, listed=True)
        marked = any(word.kind == "variable" for rule in rules for word in tree.words(rule.formula))
        self.scope = Scope(self.predicates, self.functions, marked, self.choices)
        return rules

    def _is_formula(self, declaration: tree.Declaration) -> bool:
        """Whether ``Democrat(x)`` stands for a formula: the predicate is declared with other types."""
        known = self.predicates.get(declaration.name.text)
        types = [word.text for word in declaration.slots]
        return known is not None and len(known.slots) == len(types) and [s.type for s in known.slots] != types

    def _declare(self, declaration: tree.Declaration) -> None:
        name, slots = (
            declaration.name.text,
            tuple(logic.Slot(w.text, w.mark, w.span) for w in declaration.slots),
        )
        if declaration.returns is not None:
            self._function(declaration, slots)
            return
        predicate = logic.Predicate(name, slots, declaration.closed, declaration.span)
        known = self.predicates.get(name)
        if (
            known is not None
            and (known.slots != slots or known.star != predicate.star)
            and not _same(known, predicate)
        ):
            note = Note("the first one is here", known.span)
            raise PlxError(Diagnostic(f"`{name}` is declared twice", declaration.span, notes=(note,)))
        marks = [slot for slot in slots if slot.mark]
        if len(marks) > 1:
            message = (
                f"`{name}` has {len(marks)} arguments with `!` or `?`: one value for several is not read"
            )
            raise PlxError(Diagnostic(message, marks[1].span))
        self.predicates.setdefault(name, predicate)
        for i, slot in enumerate(slots):
            if not (predicate.weighs and i == len(slots) - 1):
                self._type(slot.type, slot.span)

    def _function(self, declaration: tree.Declaration, slots: tuple[logic.Slot, ...]) -> None:
        assert declaration.returns is not None
        name, returns = declaration.name.text, declaration.returns
        function = logic.Function(name, slots, returns.text, declaration.span)
        known = self.functions.setdefault(name, function)
        if [s.type for s in known.slots] != [s.type for s in slots] or known.returns != returns.text:
            note = Note("the first one is here", known.span)
            raise PlxError(Diagnostic(f"`{name}` is declared twice", declaration.span, notes=(note,)))
        for word in (*declaration.slots, returns):
            self._type(word.text, word.span)

    def _type(self, name: str, span: Span) -> logic.Domain:
        return self.domains.setdefault(name, logic.Domain(name, span))

    def _domain(self, statement: tree.Domain, listed: bool) -> None:
        name = statement.name
        if not listed and name.text not in self.domains:
            raise self.scope.unknown(name, self.domains, "type")
        domain = self._type(name.text, statement.span)
        for word in statement.members:
            constant = logic.Constant(word.text, word.kind == "text", name.text, span=word.span)
            if listed:
                domain.listed.add(word.text)
            self._meet(constant)

    def _meet(self, constant: logic.Constant) -> None:
        """Take a constant into its type. Raises PlxError if it is there with quotes and without."""
        assert constant.type is not None
        known = self.domains[constant.type].members.setdefault(constant.text, constant)
        if known.quoted != constant.quoted:
            note = Note("here it has them" if known.quoted else "here it has none", known.span)
            message = (
                f"`{constant.text}` stands with quotes and without: some tools read one constant, others two"
            )
            raise PlxError(Diagnostic(message, constant.span, "write it one way", (note,)))

    # -------------------------------------------------------------- rules

    def resolve(self, rules: Sequence[tree.Rule]) -> None:
        """Resolve the rules and take in their constants."""
        for rule in rules:
            with _told(self.mistakes):
                found = self._rule(rule)
                if found is not None:
                    self.rules.append(found)

    def _rule(self, rule: tree.Rule) -> logic.Rule | None:
        if rule.hard and (rule.weight or rule.source):
            message = "a formula has a weight or a final period, not both"
            raise PlxError(
                Diagnostic(message, rule.span, "with the period it must hold: leave out the weight")
            )
        if rule.utility is not None:
            message = (
                f"the utility `{rule.utility.span.text}` has no part in the distribution and is left out"
            )
            self.mistakes.append(Diagnostic(message, rule.span, severity="note"))
            if rule.weight is None:
                return None
        formula, variables = self.scope.rule(rule.formula)
        source = self._source(rule, variables)
        self._meet_all(formula)
        return logic.Rule(formula, variables, rule.weight, source, rule.span, rule.hard)

    def _source(self, rule: tree.Rule, variables: Sequence[logic.Variable]) -> logic.Variable | None:
        if rule.source is None:
            return None
        name = rule.source
        found = next((v for v in variables if v.name == name.text and v.type in logic.FLOATS), None)
        if found is None:
            hint = "`*conf(person, float_)` and `c: !conf(x, c) v P(x)`"
            raise PlxError(
                Diagnostic(f"`{name.text}` is no number of a predicate in this formula", name.span, hint)
            )
        return found

    def _meet_all(self, formula: logic.Formula) -> None:
        for atom in logic.atoms(formula):
            terms = atom.arguments if isinstance(atom, logic.Atom) else (atom.left, atom.right)
            for constant in _constants(terms):
                if constant.type in self.domains:
                    self._meet(constant)

    # ----------------------------------------------------------- evidence

    def evidence(self, statements: Sequence[tree.Statement]) -> None:
        """Take in the databases."""
        for name, domain in self.domains.items():
            if not domain.listed and any(
                s.mark == "!" and s.type == name for p in self.predicates.values() for s in p.slots
            ):
                domain.listed |= set(domain.members)
        for statement in statements:
            with _told(self.mistakes):
                if isinstance(statement, tree.Domain):
                    self._domain(statement, listed=False)
                elif isinstance(statement, tree.Fact):
                    self._fact(statement)
                elif isinstance(statement, tree.Value):
                    self._function_value(statement)

    def _fact(self, fact: tree.Fact) -> None:
        call = fact.atom
        predicate = self.predicates.get(call.name.text)
        if predicate is None:
            raise self.scope.unknown(call.name, self.predicates, "predicate")
        arguments = self._ground(call, predicate.slots, "predicate", predicate.span)
        if predicate.weighs:
            exact(arguments[-1])
        found = logic.Fact(predicate.name, arguments, fact.holds, fact.span)
        known = self.facts.setdefault((predicate.name, tuple(a.text for a in arguments)), found)
        if known.holds != found.holds:
            _clash(f"`{call.span.text}` is true and false", found.span, known.span)
        if predicate.value is not None and found.holds:
            self._check_value(predicate, found)

    def _check_value(self, predicate: logic.Predicate, fact: logic.Fact) -> None:
        at = predicate.value
        key = tuple("" if i == at else a.text for i, a in enumerate(fact.arguments))
        known = self.valued.setdefault((predicate.name, key), fact)
        if known.arguments != fact.arguments:
            shown = predicate.slots[at or 0].type
            _clash(f"`{predicate.name}` has one `{shown}!`, and here two", fact.span, known.span)

    def _ground(
        self, call: tree.Call, slots: tuple[logic.Slot, ...], what: str, declared: Span
    ) -> tuple[logic.Constant, ...]:
        if len(call.arguments) != len(slots):
            message = (
                f"the {what} `{call.name.text}` has {len(slots)} places, and {len(call.arguments)} are given"
            )
            raise PlxError(Diagnostic(message, call.span, notes=(Note("declared here", declared),)))
        return tuple(
            self._constant(term, slot.type) for term, slot in zip(call.arguments, slots, strict=True)
        )

    def _constant(self, term: tree.Term, type: str) -> logic.Constant:
        if isinstance(term, tree.Call) or term.kind == "variable" or term.plus:
            raise PlxError(Diagnostic("a database has constants alone", term.span))
        text = term.text + term.mark
        constant = logic.Constant(text, term.kind == "text", type, span=term.span)
        if type in self.domains:
            self._warn_of_new(constant)
            self._meet(constant)
        return constant

    def _warn_of_new(self, constant: logic.Constant) -> None:
        domain = self.domains[constant.type or ""]
        if domain.listed and constant.text not in domain.members:
            message = f"`{constant.text}` is no `{domain.name}` of the .mln, and makes one more"
            hint = did_you_mean(constant.text, domain.members)
            self.mistakes.append(Diagnostic(message, constant.span, hint, severity="warning"))

    def _function_value(self, value: tree.Value) -> None:
        function = self.functions.get(value.call.name.text)
        if function is None:
            raise self.scope.unknown(value.call.name, self.functions, "function")
        arguments = self._ground(value.call, function.slots, "function", function.span)
        found = logic.FunctionValue(
            function.name, arguments, self._constant(value.value, function.returns), value.span
        )
        known = self.values.setdefault((function.name, tuple(a.text for a in arguments)), found)
        if known.value.text != found.value.text:
            _clash(f"`{value.call.span.text}` has two values", found.span, known.span)

    # ------------------------------------------------------------- queries

    def ask(self) -> None:
        """Read what is asked for, and look whether closed predicates are there."""
        for name in (*self.choices.closed, *self.choices.hidden):
            if name not in self.predicates:
                hint = did_you_mean(name, self.predicates) or f"declared: {', '.join(self.predicates)}"
                raise CallError(Diagnostic(f"there is no predicate `{name}` to close or hide", hint=hint))
        for text in questions(self.choices.query):
            with _told(self.mistakes):
                self.questions.append(self._question(text))

    def _question(self, source: Source) -> logic.Question:
        chain = parse_question(source)
        only = chain.parts[0]
        if not chain.operators and isinstance(only, tree.Word) and only.text in self.predicates:
            return logic.Question(only.text, None, only.span)
        formula, variables = self.scope.rule(chain)
        for atom in logic.atoms(formula):
            terms = atom.arguments if isinstance(atom, logic.Atom) else (atom.left, atom.right)
            for constant in _constants(terms):
                members = self.domains[constant.type or ""].members
                if constant.text not in members:
                    hint = did_you_mean(constant.text, members)
                    raise PlxError(
                        Diagnostic(f"there is no `{constant.text}` in `{constant.type}`", constant.span, hint)
                    )
        return logic.Question(None, logic.Rule(formula, variables, None, None, chain.span), chain.span)

    # -------------------------------------------------------------- checks

    def look_around(self) -> None:
        """Types without constants, and variables that are spelt as constants are."""
        used = {
            slot.type: slot.span
            for p in self.predicates.values()
            for slot in p.slots
            if slot.type in self.domains
        }
        unread = any(mistake.severity == "error" for mistake in self.mistakes)
        for name, span in used.items():
            if not self.domains[name].members and not unread:
                hint = f"list them in the .mln or in a database: `{name} = {{A, B}}`"
                self.mistakes.append(Diagnostic(f"the type `{name}` has no constants", span, hint))
        for rule in self.rules:
            for variable in rule.variables:
                constant = (
                    self.domains[variable.type].members.get(variable.name)
                    if variable.type in self.domains
                    else None
                )
                if constant is not None and not constant.quoted and not self.scope.marked:
                    message = (
                        f"`{variable.name}` is a variable here, and a constant of `{variable.type}` elsewhere"
                    )
                    hint = "constants begin with a capital in formulas, or stand in quotes"
                    note = Note("the constant", constant.span)
                    self.mistakes.append(Diagnostic(message, variable.span, hint, (note,)))


@contextmanager
def _told(mistakes: list[Diagnostic]) -> Iterator[None]:
    """Keeps the mistakes of a part, and goes on after it."""
    try:
        yield
    except CallError:
        raise
    except PlxError as error:
        mistakes += error.diagnostics


def _same(one: logic.Predicate, other: logic.Predicate) -> bool:
    return one.star == other.star and [(s.type, s.mark) for s in one.slots] == [
        (s.type, s.mark) for s in other.slots
    ]


def _as_declaration(rule: tree.Rule) -> tree.Declaration | None:
    """``P(t, s!)`` without weight and period, as a declaration."""
    if rule.weight or rule.utility or rule.source or rule.hard or rule.formula.operators:
        return None
    only = rule.formula.parts[0]
    call = tree.Call(only, (), span=only.span) if isinstance(only, tree.Word) else only
    if not isinstance(call, tree.Call) or call.name.kind != "name":
        return None
    words = tuple(
        word
        for word in call.arguments
        if isinstance(word, tree.Word) and word.kind == "name" and not word.plus
    )
    return tree.Declaration(call.name, words, span=rule.span) if len(words) == len(call.arguments) else None


def _constants(terms: Sequence[logic.Term]) -> Iterator[logic.Constant]:
    for term in terms:
        if isinstance(term, logic.Constant):
            yield term
        elif isinstance(term, logic.Value):
            yield from _constants(term.arguments)


def _clash(message: str, span: Span, other: Span) -> None:
    raise PlxError(Diagnostic(message, span, notes=(Note("the other one", other),)))
