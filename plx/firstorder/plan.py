"""The first-order way to answer a program: laid out before the work, or why it cannot be taken."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from plx.check.program import Program, Query, Rule, SetType
from plx.errors import Diagnostic, NoWorldError, PlxError
from plx.firstorder.answers import Answers, Found
from plx.firstorder.base import Base
from plx.firstorder.best import BestWorlds, given_rules
from plx.firstorder.counted_answers import CountedAnswers
from plx.firstorder.counted_cells import CountedCells
from plx.firstorder.counted_sums import CountedSums
from plx.firstorder.counters import CountersOf
from plx.firstorder.elements import Universe, members
from plx.firstorder.function_queries import together
from plx.firstorder.functions import Related, related
from plx.firstorder.limits import DEAR, LEAST_MEMBERS, MOST_CHOICES
from plx.firstorder.ordered import OrderedSums
from plx.firstorder.pair_total_answers import PairTotalAnswers
from plx.firstorder.questions import Question, instances, read_questions
from plx.firstorder.refusal import NotLiftableError
from plx.firstorder.rules import Rules, read_rules
from plx.firstorder.structure import Structure
from plx.firstorder.sums import Sums
from plx.firstorder.totals import rule_totals
from plx.firstorder.whole import Whole, WholeRules, whole
from plx.graph.assemble import assemble
from plx.graph.model import Atoms, GroundModel, GroundQuery, Target
from plx.infer.answers import exact_answer, log_z_answer, map_answer
from plx.infer.inference import Answer, Inference
from plx.infer.options import Clock
from plx.values import IntArray
from plx.weights import Number


@dataclass(frozen=True, eq=False)
class FirstOrderPlan:
    """How a program will be answered without grounding it.

    ``operations`` and ``memory`` are as in `plx.infer.exact_plan.ExactPlan`.
    """

    answers: Answers | CountedAnswers | PairTotalAnswers
    questions: Sequence[Question]
    maps: Mapping[int, Whole] = field(default_factory=dict)
    """The cells for each of the questions that are `map`, with what is given."""
    related: Related | None = None
    """What the questions stand for; None where they stand for themselves."""

    @property
    def operations(self) -> float:
        """About how many numbers are added."""
        return self.answers.operations(sum(len(question.patterns) for question in self.questions))

    @property
    def reason(self) -> str:
        """Why it is taken, for people."""
        base = self.answers.base
        rules = base.rules
        members = len(rules.universe.ids)
        kinds = f" of {base.kinds} kinds" if base.kinds > 1 else ""
        types = _types(rules.universe.types)
        return f"not grounded: {members:,} members of {types}{kinds} {self.answers.words}"

    def run(self) -> tuple[GroundModel, Inference]:
        """The instances of all queries, and their answers. Raises NoWorldError if no world is possible."""
        clock = Clock()
        log_z = self.answers.log_z
        program = self.answers.base.rules.evaluator.program
        if log_z == -np.inf:
            raise NoWorldError(no_world(program.rules))
        asked: list[GroundQuery] = []
        answers: list[Answer] = []
        model = _named(program)
        maps = [self.questions[i] for i in self.maps]
        best = BestWorlds(self.answers.base, maps, self.related) if maps else None
        for number, question in enumerate(self.questions):
            if best is not None and number in self.maps:
                named_map, answer = self._most_probable(best, number)
                asked.append(named_map)
                answers.append(answer)
                continue
            found = [self.answers.answer(pattern) for pattern in question.patterns]
            for pattern, one in zip(question.patterns, found, strict=True):
                if one.log_z == -np.inf:
                    raise never_given(pattern.query)
            for named, answer in self._named(model, number, found):
                asked.append(named)
                answers.append(answer)
        atoms = best.atoms if best else model.atoms
        model = GroundModel(model.graph, atoms, model.values, (), tuple(asked))
        return model, Inference("exact", self.reason, tuple(answers), log_z=log_z, seconds=clock.seconds)

    def _named(
        self, model: GroundModel, number: int, found: Sequence[Found]
    ) -> Iterator[tuple[GroundQuery, Answer]]:
        """The instances of a question, and the answer to each."""
        question = self.questions[number]
        asked = self.related.asked[number] if self.related else None
        if self.related and asked:
            named = self.related.instances(asked)
            shares = together(
                asked, self.related.program, [(one.labels, one.p) for one in found], question.which
            )
            for query, (labels, p) in zip(named, shares, strict=True):
                query = replace(query, targets=_targets(labels))
                yield query, exact_answer(model, query, p)
            return
        targets = [_targets(one.labels) for one in found]
        done: dict[int, Answer] = {}
        named = instances(self._rules.evaluator, question.query, question.env)
        for which, query in zip(question.which.tolist(), named, strict=True):
            query = replace(query, targets=targets[which])
            if which not in done:
                done[which] = _answer(model, query, found[which])
            yield query, done[which]

    def _most_probable(self, best: BestWorlds, number: int) -> tuple[GroundQuery, Answer]:
        question = self.questions[number]
        query = best.query(question, self.related.asked[number] if self.related else None)
        try:
            return query, map_answer((best.world(self.maps[number]),))
        except NoWorldError:
            raise never_given(question.query) from None

    @cached_property
    def _rules(self) -> Rules:
        return self.answers.base.rules


def first_order(
    program: Program, least: int = LEAST_MEMBERS, numbers: Mapping[str, Number] | None = None
) -> FirstOrderPlan | NotLiftableError:
    """The plan for a program, or what stands in the way: of the largest types, where other choices fail too.

    Types of fewer than ``least`` members are expanded. ``numbers`` are what is learned.
    """
    found: FirstOrderPlan | NotLiftableError | None = None
    for relations in (False, True) if _has_members(program, least) else (False,):
        found = _by_types(program, _choices(program, least, relations), relations, numbers or {})
        if isinstance(found, FirstOrderPlan):
            break
    return found or NotLiftableError(f"no type that indexes unknowns has {least} members or more")


def _by_types(
    program: Program, choices: Iterable[tuple[str, ...]], relations: bool, numbers: Mapping[str, Number]
) -> FirstOrderPlan | NotLiftableError | None:
    """The plan by the first choice of types that can be taken, or what stands in the way of the first. Where
    that plan is dear, the cheapest of some further choices.

    ``relations``: with relations in the place of functions whose values are members.
    """
    first: NotLiftableError | None = None
    best: FirstOrderPlan | None = None
    for tried, types in enumerate(choices):
        if best is not None and (best.operations <= DEAR or tried >= MOST_CHOICES):
            break
        try:
            universe = Universe.of(program, types)
            told = related(program, universe) if relations else None
            plan = _plan(told.program if told else program, universe, numbers)
            known = told if told and told.functions else None
            plan = _with_maps(replace(plan, related=known))
            best = plan if best is None else min(best, plan, key=lambda one: one.operations)
        except NotLiftableError as refusal:
            first = first or refusal
        except NoWorldError:
            raise
        except PlxError as mistake:  # grounding says it better
            first = first or NotLiftableError(mistake.diagnostics[0].message, mistake.diagnostics[0].span)
    return best or first


def _plan(program: Program, universe: Universe, numbers: Mapping[str, Number]) -> FirstOrderPlan:
    rules = read_rules(program, universe, numbers)
    base = Base(rules)
    if base.before and rules.sparse:
        base = Base(rules := read_rules(program, universe, numbers, WholeRules))
    totals = rule_totals(base)
    counting = any(part.counts and part.variables for part in rules.parts)
    counters = CountersOf(base) if counting else None
    questions = read_questions(base, totals, program.queries)
    counted = counters is not None or totals.of_pairs
    if counted and (base.before or rules.successor is not None):
        raise NotLiftableError("rules with counts ask for the order of members", rules.ordered)
    if totals.of_pairs:
        if counters is not None:
            raise NotLiftableError("members count each other, and pairs are counted too")
        return _checked(PairTotalAnswers(base, totals), questions)
    if base.before:
        return FirstOrderPlan(Answers(OrderedSums(Structure(base, totals))), questions)
    if counters is None:
        return FirstOrderPlan(Answers(Sums(Structure(base, totals))), questions)
    return _checked(CountedAnswers(CountedSums(CountedCells(base, counters, totals))), questions)


def _checked(answers: CountedAnswers | PairTotalAnswers, questions: Sequence[Question]) -> FirstOrderPlan:
    """The plan. Raises NotLiftableError for a query that takes too much."""
    for question in questions:
        for pattern in question.patterns:
            answers.refuse(pattern)
    return FirstOrderPlan(answers, questions)


def _with_maps(plan: FirstOrderPlan) -> FirstOrderPlan:
    """The plan, with what `map` needs. Raises NotLiftableError where its sums are no plain ones."""
    found = {}
    for i, question in enumerate(plan.questions):
        if question.query.kind == "map":
            try:
                rules = plan.answers.base.rules
                found[i] = whole(rules, given_rules(rules.evaluator.program, question.query))
            except NoWorldError:
                raise never_given(question.query) from None
    return replace(plan, maps=found)


def _choices(program: Program, least: int, relations: bool) -> Iterator[tuple[str, ...]]:
    """Types that index unknowns: all that are large enough, then without the smallest, and so on."""
    sizes = {}
    for name, info in program.types.items():
        if not info.slots and len(info.members) >= least and _indexes(program, name, relations):
            sizes[name] = len(info.members)
    names = sorted(sizes, key=lambda name: -sizes[name])
    for count in range(len(names), 0, -1):
        yield tuple(names[:count])


def _indexes(program: Program, name: str, relations: bool) -> bool:
    """Whether a type indexes unknowns, or relations that stand for functions."""
    own = program.types[name].members
    for info in program.randoms.values():
        sets = [slot.set for slot in info.slots] + ([info.domain] if relations and info.domain else [])
        for set_ in sets:
            ids = members(program, set_)
            if ids is not None and len(ids) and np.isin(ids, own).all():
                return True
    return False


def _has_members(program: Program, least: int) -> bool:
    """Whether the values of a random function are the members of a type that is large enough."""
    domains = [info.domain for info in program.randoms.values()]
    named = [domain.name for domain in domains if isinstance(domain, SetType) and not domain.arguments]
    return any(len(program.types[name].members) >= least for name in named)


def _targets(labels: Sequence[IntArray]) -> tuple[Target, ...]:
    return tuple(Target(-1, values) for values in labels)


def _answer(model: GroundModel, query: GroundQuery, found: Found) -> Answer:
    if query.kind == "logz":
        return log_z_answer(found.log_z)
    return exact_answer(model, query, found.p)


def _named(program: Program) -> GroundModel:
    """A model of no unknowns that knows the names of values."""
    none = np.empty(0, dtype=np.int64)
    atoms = Atoms((), none.astype(np.int32), none, none.astype(np.int32), (), none, program.values)
    return GroundModel(assemble(program.values, none, ()).graph, atoms, program.values, (), ())


def no_world(rules: Sequence[Rule]) -> Diagnostic:
    """The error where no world is possible."""
    hard = [rule.span for rule in rules if rule.kind in ("require", "observe")]
    return Diagnostic(
        "no world satisfies every `require` and `observe`" if hard else "no world is possible",
        (hard or [rule.span for rule in rules])[-1] if rules else None,
        hint="some of them contradict each other over the same unknowns",
    )


def never_given(query: Query) -> PlxError:
    """The error where what a query is given is impossible."""
    span = query.given[0].span.to(query.given[-1].span) if query.given else query.span
    return PlxError(Diagnostic(f"the given of line {span.line} has probability 0", span))


def _types(names: Sequence[str]) -> str:
    return " and ".join(names)
