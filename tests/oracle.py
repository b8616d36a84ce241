"""What a program means, by the book: an interpreter of syntax trees that enumerates every world.

It shares nothing with the checker, the grounder or the inference code, only the syntax tree. It is slow
and plain on purpose, and takes correct programs only.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from plx.syntax import ast

Value = str | bool | Fraction | float
Env = Mapping[str, Value]
Atom = tuple[str, tuple[Value, ...]]


@dataclass
class Answers:
    """Per query instance in order: probability of each tuple of targets; log Z with its `given`.

    ``possible``: whether there is a world, also where nothing is asked.
    """

    possible: bool
    distributions: list[dict[tuple[Value, ...], float]]
    log_z: list[float]
    best: list[float]


class OutsideDomain(Exception):
    """A formula needed an atom that does not exist."""


class Interpreter:
    def __init__(self, module: ast.Module) -> None:
        self.statements = module.statements
        self.declared = {
            s.name.text: s for s in module.statements if hasattr(s, "name") and hasattr(s, "slots")
        }
        self.world: dict[Atom, Value] = {}
        self.atoms = {
            (name, index): self.domain(declaration, index)
            for name, declaration in self.declared.items()
            if isinstance(declaration, ast.RandomDecl)
            for index in self.indexes(declaration)
        }

    # ------------------------------------------------------------------- worlds

    def answers(self) -> Answers:
        queries = [(q, env) for q in self.of(ast.Query) for env in self.scope(q.scope, {})]
        sums: list[dict[tuple[Value, ...], list[float]]] = [{} for _ in queries]
        possible = False
        for log_weight in self.worlds():
            possible = True
            for (query, env), seen in zip(queries, sums, strict=True):
                if all(self.value(g, env) is True for g in query.given):
                    seen.setdefault(self.target(query, env), []).append(log_weight)
        totals = [log_sum([w for ws in seen.values() for w in ws]) for seen in sums]
        return Answers(
            possible,
            [
                {key: math.exp(log_sum(ws) - total) for key, ws in seen.items()}
                for seen, total in zip(sums, totals, strict=True)
            ],
            totals,
            [max((w for ws in seen.values() for w in ws), default=-math.inf) for seen in sums],
        )

    def worlds(self) -> Iterator[float]:
        for values in itertools.product(*self.atoms.values()):
            self.world = dict(zip(self.atoms, values, strict=True))
            log_weight = self.log_weight()
            if log_weight > -math.inf:
                yield log_weight

    def log_weight(self) -> float:
        for rule in self.of(ast.Require, ast.Observe):
            if self.is_table(rule):
                if not self.seen(*rule.formula.operands):
                    return -math.inf
            elif not all(self.value(rule.formula, env) is True for env in self.scope(rule.scope, {})):
                return -math.inf
        total = 0.0
        for rule in self.of(ast.Weight):
            for env in self.scope(rule.scope, {}):
                if self.value(rule.formula, env) is True:
                    total += float(self.value(rule.weight, env))
        for rule in self.of(ast.Factor):
            total += sum(float(self.value(rule.value, env)) for env in self.scope(rule.scope, {}))
        return total + self.log_chance()

    def log_chance(self) -> float:
        """The log of the product of all conditional probabilities."""
        total = 0.0
        for (name, index), value in self.world.items():
            declaration = self.declared[name]
            if declaration.cases:
                env = self.bind(declaration.slots, index)
                case = next(
                    c for c in declaration.cases if c.condition is None or self.value(c.condition, env)
                )
                chance = self.chance(case.chances, env, value, self.atoms[name, index])
                total += math.log(chance) if chance else -math.inf
        return total

    def is_table(self, rule) -> bool:
        """Whether it is ``observe f = {…}`` for a function with slots."""
        return isinstance(rule.formula, ast.Compare) and isinstance(rule.formula.operands[1], ast.Braces)

    def seen(self, function: ast.Name, table: ast.Braces) -> bool:
        """Whether the world agrees with a table of observations."""
        given, rest = {}, None
        for entry in table.entries:
            if entry.otherwise:
                rest = self.value(entry.value, {})
                continue
            key = entry.key or entry.value
            items = key.items if isinstance(key, ast.Tuple) else (key,)
            index = tuple(self.value(item, {}) for item in items)
            given[index] = True if entry.key is None else self.value(entry.value, {})
        atoms = {index: value for (name, index), value in self.world.items() if name == function.text}
        return all(
            given.get(index, value if rest is None else rest) == value for index, value in atoms.items()
        )

    def chance(self, node, env: Env, value: Value, domain: list[Value]) -> float:
        """The probability of a value, by what stands after ``~``."""
        match node:
            case ast.Name(text="uniform"):
                return 1 / len(domain)
            case ast.Apply(name=ast.Name(text="softmax"), arguments=(score,)):
                scores = [math.exp(self.spread(score, env, v, truth=(0, 1))) for v in domain]
                return scores[domain.index(value)] / sum(scores)
            case ast.Causes():
                missed = 1 - float(self.value(node.leak, env))
                *plain, last = node.causes
                scoped = [(last, inner) for inner in self.scope(node.scope, env)]
                for cause, inner in [*((c, env) for c in plain), *scoped]:
                    if self.value(cause.value, inner):
                        missed *= 1 - float(self.value(cause.key, inner))
                return 1 - missed if value else missed
        return self.spread(node, env, value)

    def spread(self, node, env: Env, value: Value, truth=None) -> float:
        """A number for a value: from a table, a param with one slot more, or that of ``true``."""
        if isinstance(node, ast.Braces):
            return float(number(self.value(self.entry(node.entries, (value,), env), env)))
        name = node.name.text if isinstance(node, ast.Apply) else getattr(node, "text", None)
        arguments = node.arguments if isinstance(node, ast.Apply) else ()
        declaration = self.declared.get(name)
        if declaration is not None and len(declaration.slots) == len(arguments) + 1:
            given = tuple(self.value(a, env) for a in arguments)
            return float(number(self.call(name, (*given, value), env)))
        chance = float(number(self.value(node, env)))
        if truth:
            return chance if value else 0.0
        return chance if value else 1 - chance

    def target(self, query: ast.Query, env: Env) -> tuple[Value, ...]:
        if isinstance(query.target, ast.Tuple):
            return tuple(self.value(item, env) for item in query.target.items)
        if isinstance(query.target, ast.MapTarget | ast.LogZTarget):
            return ()
        return (self.value(query.target, env),)

    def of(self, *kinds: type) -> list:
        return [s for s in self.statements if isinstance(s, kinds)]

    # ------------------------------------------------------------- declarations

    def indexes(self, declaration, guard: bool = True) -> Iterator[tuple[Value, ...]]:
        for env, index in self.slots(declaration.slots, {}, ()):
            if (
                not guard
                or getattr(declaration, "guard", None) is None
                or self.value(declaration.guard, env) is True
            ):
                yield index

    def slots(self, slots, env: Env, index: tuple[Value, ...]) -> Iterator[tuple[Env, tuple[Value, ...]]]:
        if not slots:
            yield env, index
            return
        for value in self.set(slots[0].set, env):
            inner = {**env, slots[0].name.text: value} if slots[0].name else env
            yield from self.slots(slots[1:], inner, (*index, value))

    def domain(self, declaration: ast.RandomDecl, index: tuple[Value, ...]) -> list[Value]:
        if declaration.domain is None:
            return [False, True]
        return self.set(declaration.domain, self.bind(declaration.slots, index))

    def bind(self, slots, index: tuple[Value, ...]) -> Env:
        return {slot.name.text: value for slot, value in zip(slots, index, strict=True) if slot.name}

    def scope(self, scope: ast.Scope | None, env: Env) -> Iterator[Env]:
        if scope is None:
            yield env
            return
        for inner in self.bindings(scope.bindings, env):
            if scope.guard is None or self.value(scope.guard, inner) is True:
                yield inner

    def bindings(self, bindings, env: Env) -> Iterator[Env]:
        if not bindings:
            yield env
            return
        if isinstance(bindings[0], ast.TupleBinding):
            choices = self.matches(bindings[0], env)
        else:
            names = [name.text for name in bindings[0].names]
            members = self.set(bindings[0].set, env)
            choices = (
                {**env, **dict(zip(names, values, strict=True))}
                for values in itertools.product(members, repeat=len(names))
            )
        for inner in choices:
            yield from self.bindings(bindings[1:], inner)

    def matches(self, binding: ast.TupleBinding, env: Env) -> Iterator[Env]:
        """Every fact that agrees with the items, in turn: what is bound, a member of the slot, a value."""
        slots = self.declared[binding.set.text].slots
        for fact in self.facts(binding.set.text):
            inner = dict(env)
            for item, slot, value in zip(binding.items, slots, fact, strict=True):
                bare = item.text if isinstance(item, ast.Name) else None
                if bare == "_":
                    continue
                if bare is not None and bare not in inner and bare not in self.set(slot.set, {}):
                    inner[bare] = value
                elif self.value(item, inner) != value:
                    break
            else:
                yield inner

    def facts(self, name: str) -> list[tuple[Value, ...]]:
        relation, out = self.declared[name], []
        if not isinstance(relation.value, ast.Braces):
            return [index for index in self.indexes(relation) if self.call(name, index, {}) is True]
        for entry in relation.value.entries:
            items = entry.value.items if isinstance(entry.value, ast.Tuple) else (entry.value,)
            out.append(tuple(self.value(item, {}) for item in items))
        return list(dict.fromkeys(out))

    # --------------------------------------------------------------------- sets

    def set(self, expr: ast.Expr, env: Env) -> list[Value]:
        match expr:
            case ast.Name(text=name):
                declaration = self.declared[name]
                if not declaration.slots:
                    return self.set(declaration.value, env)
                return unique(
                    v for index in self.indexes(declaration) for v in self.member(declaration, index)
                )
            case ast.Apply(name=name, arguments=arguments):
                return self.member(self.declared[name.text], tuple(self.value(a, env) for a in arguments))
            case ast.Binary(op="or", left=left, right=right):
                return unique(self.set(left, env) + self.set(right, env))
            case ast.Binary(op="..", left=left, right=right):
                return self.run(left, right, env)
            case ast.Braces(entries=entries):
                return unique(
                    v
                    for e in entries
                    for v in (
                        self.set(e.value, env)
                        if isinstance(e.value, ast.Binary) and e.value.op == ".."
                        else [self.value(e.value, env)]
                    )
                )
        raise TypeError(expr)

    def member(self, family, index: tuple[Value, ...]) -> list[Value]:
        if not isinstance(family.value, ast.Braces) or not any(e.key for e in family.value.entries):
            return self.set(family.value, self.bind(family.slots, index))
        entry = self.entry(family.value.entries, index)
        return self.set(entry, self.bind(family.slots, index))

    def entry(self, entries, index: tuple[Value, ...], env: Env | None = None) -> ast.Expr:
        for entry in entries:
            if entry.key is not None:
                items = entry.key.items if isinstance(entry.key, ast.Tuple) else (entry.key,)
                if tuple(self.value(item, env or {}) for item in items) == index:
                    return entry.value
        return next(entry.value for entry in entries if entry.otherwise)

    def run(self, low: ast.Expr, high: ast.Expr, env: Env) -> list[Value]:
        if isinstance(low, ast.Name) and isinstance(high, ast.Name) and low.text not in env:
            stem = low.text.rstrip("0123456789")
            first, last = low.text[len(stem) :], high.text[len(stem) :]
            return [
                f"{stem}{i:0{len(first) if first[0] == '0' else 0}d}"
                for i in range(int(first), int(last) + 1)
            ]
        return [Fraction(i) for i in range(int(self.value(low, env)), int(self.value(high, env)) + 1)]

    # -------------------------------------------------------------- expressions

    def value(self, expr: ast.Expr, env: Env) -> Value:
        match expr:
            case ast.Number(value=value) | ast.Truth(value=value):
                return value
            case ast.Quoted(text=text):
                return text
            case ast.Name(text=text):
                if text in env:
                    return env[text]
                return self.call(text, (), env) if text in self.declared else text
            case ast.Apply(name=name, arguments=arguments):
                return self.call(name.text, tuple(self.value(a, env) for a in arguments), env)
            case ast.Unary(op=op, operand=operand):
                inner = self.value(operand, env)
                return (not inner) if op == "not" else -number(inner) if op == "-" else number(inner)
            case ast.Binary(op=op, left=left, right=right):
                return self.binary(op, left, right, env)
            case ast.Compare(operands=operands, ops=ops):
                return all(
                    self.compare(op, a, b, env) for op, a, b in zip(ops, operands, operands[1:], strict=False)
                )
            case ast.Member(item=ast.Tuple(items=items), set=set_, negated=negated):
                return (tuple(self.value(item, env) for item in items) in self.facts(set_.text)) != negated
            case ast.Member(item=item, set=set_, negated=negated):
                return (self.value(item, env) in self.set(set_, env)) != negated
            case ast.Aggregate(kind=kind, body=body, scope=scope):
                return self.aggregate(kind, [self.value(body, inner) for inner in self.scope(scope, env)])
            case ast.Constraint(name=name, arguments=arguments, scope=scope):
                found = [self.value(arguments[-1], inner) for inner in self.scope(scope, env)]
                wanted = self.value(arguments[0], env) if len(arguments) > 1 else None
                return self.constraint(name.text, wanted, found)
        raise TypeError(expr)

    def constraint(self, word: str, wanted: Value | None, found: list[Value]) -> bool:
        match word:
            case "alldifferent":
                return len(unique(found)) == len(found)
            case "exactly":
                return found.count(True) == wanted
            case "at_least":
                return found.count(True) >= wanted
        return found.count(True) <= wanted

    def call(self, name: str, arguments: tuple[Value, ...], env: Env) -> Value:
        functions = {
            "log": lambda x: math.log(x) if x else -math.inf,
            "exp": math.exp, "sqrt": math.sqrt, "abs": abs, "min": min, "max": max,
            "logit": lambda p: math.log(p / (1 - p)), "floor": lambda x: Fraction(math.floor(x)),
        }  # fmt: skip
        if name in functions and name not in self.declared:
            return functions[name](*map(number, arguments))
        declaration = self.declared[name]
        match declaration:
            case ast.RandomDecl():
                if (name, arguments) not in self.world:
                    raise OutsideDomain(f"{name}{arguments}")
                return self.world[name, arguments]
            case ast.RelationDecl(value=ast.Braces()):
                return arguments in self.facts(name)
            case (
                ast.ParamDecl(value=ast.Braces(entries=entries))
                | ast.LearnDecl(value=ast.Braces(entries=entries))
            ):
                return self.value(self.entry(entries, arguments), {})
            case (
                ast.ParamDecl(value=value)
                | ast.LearnDecl(value=value)
                | ast.RelationDecl(value=value)
                | ast.DefineDecl(body=value)
            ):
                return self.value(value, self.bind(declaration.slots, arguments))
        raise TypeError(declaration)

    def binary(self, op: str, left: ast.Expr, right: ast.Expr, env: Env) -> Value:
        a = self.value(left, env)
        if op == "and":
            return a and self.value(right, env)
        if op == "or":
            return a or self.value(right, env)
        if op == "=>":
            return not a or self.value(right, env)
        b = self.value(right, env)
        if op in ("xor", "<=>"):
            return (a != b) == (op == "xor")
        a, b = number(a), number(b)
        match op:
            case "+":
                return a + b
            case "-":
                return a - b
            case "*":
                return a * b
            case "/":
                return a / b
            case "%":
                return a % b
            case "^":
                return a**b
        raise TypeError(op)

    def compare(self, op: str, left: ast.Expr, right: ast.Expr, env: Env) -> bool:
        a, b = self.value(left, env), self.value(right, env)
        if op in ("=", "!="):
            same = a == b and isinstance(a, bool) == isinstance(b, bool)
            return same == (op == "=")
        if isinstance(a, str) and isinstance(b, str):
            a, b = self.ranks(a, b)
        return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[op]

    def ranks(self, a: str, b: str) -> tuple[int, int]:
        for declaration in self.of(ast.TypeDecl):
            members = self.set(declaration.name, {})
            if a in members and b in members:
                return members.index(a), members.index(b)
        raise TypeError(f"no type has both {a} and {b}")

    def aggregate(self, kind: str, values: list[Value]) -> Value:
        match kind:
            case "exists":
                return any(values)
            case "forall":
                return all(values)
            case "count":
                return Fraction(sum(1 for v in values if v))
        return sum(map(number, values), start=Fraction(0))


def unique(values) -> list[Value]:
    seen = {}
    for value in values:
        seen.setdefault((isinstance(value, bool), value), value)
    return list(seen.values())


def number(value: Value) -> Value:
    """In arithmetic a formula counts as 0 or 1."""
    return Fraction(value) if isinstance(value, bool) else value


def log_sum(logs: list[float]) -> float:
    top = max(logs, default=-math.inf)
    return top if top == -math.inf else top + math.log(math.fsum(math.exp(w - top) for w in logs))
