"""Exact numbers: rationals, logs of rationals, and anything else through sympy.

Equality of weights decides symmetry, so it is decided here and never by rounding. Four forms:

* rational: ``int`` or ``Fraction``;
* ``LogNumber``: r + log(q)/d with rational r, q. The form is unique: e^r is irrational for rational
  r ≠ 0 (Lindemann), so r is determined, and d is the smallest root of which log(q) is made;
* ``Symbolic``: a sympy expression, for what is neither (``sqrt(2)``, ``exp(1)``, ``log(2)*log(3)``).
  Two of these are equal when they agree to 50 significant digits;
* ``LogSum``: with terms log(e^a + e^b + …), which summing out an unknown leaves. Two of these are equal
  when they are written alike: an equality that is not seen costs a symmetry, and never makes one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cmp_to_key
from typing import Any, Final, TypeGuard

from plx.numerals import rational_text, shortened
from plx.roots import primitive, rational_root


@dataclass(frozen=True, slots=True)
class LogNumber:
    """``rational + log(base) / root``; base > 0 and ≠ 1, root ≥ 1 as small as it can be."""

    rational: Fraction
    base: Fraction
    root: int


@dataclass(frozen=True, slots=True)
class Symbolic:
    """A real number that sympy holds; ``digits`` (50 significant ones) is its identity."""

    digits: str
    expression: Any = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class LogSum:
    """``rest`` + Σ times · log Σ exp(term): ``parts`` are (terms, times), the smallest term of each 0."""

    rest: int | Fraction | LogNumber | Symbolic
    parts: tuple[tuple[tuple[Number, ...], Fraction], ...]


Number = int | Fraction | LogNumber | Symbolic | LogSum

_DIGITS: Final = 50
_LARGEST: Final = 1 << 18
"""Rationals of more bits than this are refused: they are typing errors, not weights."""


LARGEST_EXPONENT: Final = 50_000
"""The largest exponent of a decimal literal, up or down."""

LONGEST_LITERAL: Final = 1000
"""Literals of more digits are slow to work with, and beyond the precision of any double."""


class ArithmeticMistake(ValueError):
    """Arithmetic that has no real, finite result; the message is in plain words."""


# ------------------------------------------------------------------ text and floats

_NUMBER = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?")


def parse(text: str) -> int | Fraction:
    """The exact value of a decimal literal (``12``, ``.5``, ``3.3e-4165``).

    Raises ArithmeticMistake if it is no number, or its digits or its exponent are out of all proportion.
    """
    match = _NUMBER.fullmatch(text)
    if not match or not (match[2] or match[3]):
        raise ArithmeticMistake(f"`{shortened(text)}` is not a number")
    if len(match[2]) + len(match[3] or "") > LONGEST_LITERAL:
        raise ArithmeticMistake(f"`{shortened(text)}` has more than {LONGEST_LITERAL} digits")
    if len(match[4] or "") > 6 or abs(int(match[4] or 0)) > LARGEST_EXPONENT:
        raise ArithmeticMistake(f"the exponent of `{shortened(text)}` is too large")
    return _tidy(Fraction(text))


def to_float(number: Number) -> float:
    """The nearest double (up to an ulp or two for irrationals); ±inf past the range of doubles."""
    if isinstance(number, LogNumber):
        return float(number.rational) + _log_float(number.base) / number.root
    if isinstance(number, Symbolic):
        return float(number.digits)
    if isinstance(number, LogSum):
        sums = (float(times) * _log_sum_float(terms) for terms, times in number.parts)
        return math.fsum([to_float(number.rest), *sums])
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _log_sum_float(terms: Sequence[Number]) -> float:
    largest = to_float(terms[-1])
    return largest + math.log(math.fsum(math.exp(to_float(term) - largest) for term in terms))


def _log_float(q: Fraction) -> float:
    n, d = q.numerator, q.denominator
    excess = Fraction(n - d, d)
    if abs(excess) < Fraction(1, 2):
        return math.log1p(float(excess))
    if abs(n.bit_length() - d.bit_length()) < 1000:
        return math.log(n / d)
    return math.log(n) - math.log(d)


def text(number: Number) -> str:
    """The number as plx would write it: ``0.3``, ``1/3``, ``log(6)``, ``1 + log(2)/2``."""
    if isinstance(number, LogNumber):
        return _log_text(number)
    if isinstance(number, Symbolic):
        return str(number.expression).replace("**", "^").replace("E", "exp(1)")
    if isinstance(number, LogSum):
        sums = (
            f"{rational_text(n)}*log({' + '.join(f'exp({text(t)})' for t in terms)})"
            for terms, n in number.parts
        )
        return " + ".join([text(number.rest), *sums])
    return rational_text(Fraction(number))


def shown(number: Number) -> str:
    """The number for a message: as `text`, cut in the middle where it is very long."""
    return shortened(text(number))


def _log_text(number: LogNumber) -> str:
    negative = number.base < 1
    base = 1 / number.base if negative else number.base
    log = f"log({rational_text(base)})" + (f"/{number.root}" if number.root > 1 else "")
    if not number.rational:
        return f"-{log}" if negative else log
    return f"{rational_text(number.rational)} {'-' if negative else '+'} {log}"


# ---------------------------------------------------------------------- arithmetic


def add(a: Number, b: Number) -> Number:
    """The exact sum."""
    if _is_rational(a) and _is_rational(b):
        return _tidy(Fraction(a) + Fraction(b))
    if isinstance(a, LogSum) or isinstance(b, LogSum):
        return _merged(a, b)
    if isinstance(a, Symbolic) or isinstance(b, Symbolic):
        return _symbolic(_sympy(a) + _sympy(b))
    found = _sum_of_logs(_as_log(a), _as_log(b))
    return _symbolic(_sympy(a) + _sympy(b)) if found is None else found


def _sum_of_logs(a: LogNumber, b: LogNumber) -> Number | None:
    """The exact sum, None where its one logarithm would be of a number out of all proportion."""
    root = math.lcm(a.root, b.root)
    powers = ((a.base, root // a.root), (b.base, root // b.root))
    if sum(_bits(base) * power for base, power in powers) > _LARGEST:
        return None
    base = powers[0][0] ** powers[0][1] * powers[1][0] ** powers[1][1]
    return _log_number(a.rational + b.rational, base, root)


def neg(a: Number) -> Number:
    """The number with the other sign."""
    if isinstance(a, LogNumber):
        return LogNumber(-a.rational, 1 / a.base, a.root)
    if isinstance(a, LogSum):
        return mul(a, -1)
    return _symbolic(-a.expression) if isinstance(a, Symbolic) else -a


def sub(a: Number, b: Number) -> Number:
    """The exact difference."""
    return add(a, neg(b))


def mul(a: Number, b: Number) -> Number:
    """The exact product. Raises ArithmeticMistake if it is out of all proportion."""
    if _is_rational(a) and _is_rational(b):
        return _tidy(_checked(Fraction(a) * Fraction(b)))
    if _is_rational(b):
        a, b = b, a
    if _is_rational(a) and isinstance(b, LogSum):
        scaled = tuple((terms, times * Fraction(a)) for terms, times in b.parts)
        return LogSum(mul(a, b.rest), scaled) if a else 0  # type: ignore[arg-type]
    if not (_is_rational(a) and isinstance(b, LogNumber)):
        return _symbolic(_sympy(a) * _sympy(b))
    factor = Fraction(a)
    if not factor:
        return 0
    power, root = factor.numerator, b.root * factor.denominator
    shared = math.gcd(power, root)
    power, root = power // shared, root // shared
    base, root = primitive(b.base, root)
    if _bits(base) * abs(power) > _LARGEST:
        return _symbolic(_sympy(a) * _sympy(b))
    return _log_number(b.rational * factor, base**power, root)


def div(a: Number, b: Number) -> Number:
    """The exact quotient. Raises ArithmeticMistake for a divisor of 0."""
    if b == 0:
        raise ArithmeticMistake("division by zero")
    if _is_rational(b):
        return mul(a, _tidy(1 / Fraction(b)))
    return 1 if a == b else _symbolic(_sympy(a) / _sympy(b))


def mod(a: Number, b: Number) -> Number:
    """The remainder with the sign of the divisor, as in Python."""
    if b == 0:
        raise ArithmeticMistake("remainder of a division by zero")
    if not (_is_rational(a) and _is_rational(b)):
        raise ArithmeticMistake("`%` needs rational numbers")
    return _tidy(Fraction(a) % Fraction(b))


def power(a: Number, b: Number) -> Number:
    """a to the power of b. Raises ArithmeticMistake where that is no real number, or far too large."""
    if a == 0 and compare(b, 0) < 0:
        raise ArithmeticMistake("division by zero: 0 to a negative power")
    if _is_rational(b) and Fraction(b).denominator == 1 and _is_rational(a):
        if _bits(Fraction(a)) * abs(int(b)) > _LARGEST:
            raise ArithmeticMistake(f"{shown(a)} ^ {shown(b)} is too large")
        return _tidy(Fraction(a) ** int(b))
    if compare(a, 0) < 0 and not (_is_rational(b) and Fraction(b).denominator == 1):
        raise ArithmeticMistake(f"{shown(a)} ^ {shown(b)} is no real number")
    return _symbolic(_sympy(a) ** _sympy(b))


def log(a: Number) -> Number:
    """The natural logarithm. Raises ArithmeticMistake for a ≤ 0."""
    if compare(a, 0) <= 0:
        raise ArithmeticMistake(f"log({shown(a)}): the logarithm of a number that is not positive")
    if _is_rational(a):
        return _log_number(Fraction(0), Fraction(a), 1)
    return _symbolic(_import_sympy().log(_sympy(a)))


def log_sum_exp(numbers: Sequence[Number]) -> Number:
    """log Σ exp(number), of one number or more."""
    ordered = sorted(numbers, key=cmp_to_key(compare))
    least = ordered[0]
    terms = [sub(number, least) for number in ordered]
    powers = [_rational_power(term) for term in terms]
    if all(powers):
        return add(least, log(_tidy(sum(filter(None, powers), Fraction(0)))))
    return add(least, LogSum(0, ((tuple(terms), Fraction(1)),)))


def _rational_power(a: Number) -> Fraction | None:
    """exp(a) where that is rational."""
    if a == 0:
        return Fraction(1)
    return a.base if isinstance(a, LogNumber) and not a.rational and a.root == 1 else None


def _merged(a: Number, b: Number) -> Number:
    """The sum of two numbers, one of them with log sums: equal ones are counted together."""
    times: dict[tuple[Number, ...], Fraction] = {}
    rest: Number = 0
    for number in (a, b):
        rest = add(rest, number.rest if isinstance(number, LogSum) else number)
        for terms, count in number.parts if isinstance(number, LogSum) else ():
            times[terms] = times.get(terms, Fraction(0)) + count
    parts = [(terms, count) for terms, count in times.items() if count]
    parts.sort(key=lambda part: ([to_float(term) for term in part[0]], part[1], repr(part[0])))
    return LogSum(rest, tuple(parts)) if parts else rest  # type: ignore[arg-type]


def exp(a: Number) -> Number:
    """e to the power of a. Raises ArithmeticMistake when it is far too large."""
    if a == 0:
        return 1
    if isinstance(a, LogNumber) and not a.rational and a.root == 1:
        return _tidy(a.base)
    if abs(to_float(a)) > 1e6:
        raise ArithmeticMistake(f"exp({shown(a)}) is too large")
    return _symbolic(_import_sympy().exp(_sympy(a)))


def sqrt(a: Number) -> Number:
    """The square root. Raises ArithmeticMistake for a < 0."""
    if compare(a, 0) < 0:
        raise ArithmeticMistake(f"sqrt({shown(a)}): the square root of a negative number")
    if _is_rational(a):
        root = rational_root(Fraction(a), 2)
        if root is not None:
            return _tidy(root)
    return _symbolic(_import_sympy().sqrt(_sympy(a)))


def logit(a: Number) -> Number:
    """log(a / (1 - a)). Raises ArithmeticMistake unless 0 < a < 1."""
    if compare(a, 0) <= 0 or compare(a, 1) >= 0:
        raise ArithmeticMistake(f"logit({shown(a)}): the argument must lie between 0 and 1")
    return log(div(a, sub(1, a)))


def compare(a: Number, b: Number) -> int:
    """-1, 0 or 1 as a is less than, equal to or greater than b; never decided by rounding."""
    if _is_rational(a) and _is_rational(b):
        return (a > b) - (a < b)
    if a == b:
        return 0
    x, y = to_float(a), to_float(b)
    if abs(x - y) > 1e-9 * (abs(x) + abs(y)):
        return 1 if x > y else -1
    difference = sub(a, b)
    if difference == 0:
        return 0
    precise = _sympy(difference).evalf(_DIGITS, maxn=10_000)
    return 1 if precise > 0 else -1


# ------------------------------------------------------------------ canonical forms


def _is_rational(a: Number) -> TypeGuard[int | Fraction]:
    return isinstance(a, int | Fraction)


def _tidy(q: Fraction) -> int | Fraction:
    return q.numerator if q.denominator == 1 else q


def _checked(q: Fraction) -> Fraction:
    if _bits(q) > _LARGEST:
        raise ArithmeticMistake("a number is too large")
    return q


def _bits(q: Fraction) -> int:
    return q.numerator.bit_length() + q.denominator.bit_length()


def _as_log(a: Number) -> LogNumber:
    return a if isinstance(a, LogNumber) else LogNumber(Fraction(a), Fraction(1), 1)  # type: ignore[arg-type]


def _log_number(rational: Fraction, base: Fraction, root: int) -> Number:
    if base == 1:
        return _tidy(rational)
    base, root = primitive(base, root)
    return LogNumber(rational, base, root)


def _import_sympy() -> Any:
    import sympy

    return sympy


def _sympy(a: Number) -> Any:
    if isinstance(a, Symbolic):
        return a.expression
    sympy = _import_sympy()
    if isinstance(a, LogSum):
        sums = (
            _sympy(times) * sympy.log(sum(sympy.exp(_sympy(t)) for t in terms)) for terms, times in a.parts
        )
        return _sympy(a.rest) + sum(sums)
    if isinstance(a, LogNumber):
        return _rational(sympy, a.rational) + sympy.log(_rational(sympy, a.base)) / a.root
    return _rational(sympy, Fraction(a))


def _rational(sympy: Any, q: Fraction) -> Any:
    return sympy.Rational(q.numerator, q.denominator)


def _symbolic(expression: Any) -> Number:
    """The canonical form of a sympy expression: back to a simpler form where it has one."""
    sympy = _import_sympy()
    expression = sympy.expand_log(sympy.expand(sympy.radsimp(expression)), force=True)
    simpler = _from_sympy(sympy, expression)
    if simpler is not None:
        return simpler
    value = expression.evalf(_DIGITS + 10, maxn=10_000)
    if not value.is_real or not value.is_finite:
        raise ArithmeticMistake(f"{expression} is no real number")
    if abs(value) < sympy.Float(10) ** -(_DIGITS - 5):
        return 0
    return Symbolic(str(value.round(_DIGITS - 1 - int(sympy.floor(sympy.log(abs(value), 10))))), expression)


def _from_sympy(sympy: Any, expression: Any) -> Number | None:
    total: Number = 0
    for term in sympy.Add.make_args(expression):
        coefficient, rest = term.as_coeff_Mul(rational=True)
        factor = Fraction(int(coefficient.p), int(coefficient.q))
        if rest == 1:
            part: Number = _tidy(factor)
        elif isinstance(rest, sympy.log) and rest.args[0].is_Rational and rest.args[0] > 0:
            base, root = primitive(Fraction(int(rest.args[0].p), int(rest.args[0].q)), factor.denominator)
            if _bits(base) * abs(factor.numerator) > _LARGEST:
                return None
            part = _log_number(Fraction(0), base**factor.numerator, root)
        else:
            return None
        found = _sum_of_logs(_as_log(total), _as_log(part))
        if found is None:
            return None
        total = found
    return total
