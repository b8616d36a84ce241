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

from plx import symbolic
from plx.doubles import log_float, rational_float
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

_LARGEST: Final = 1 << 18
"""Rationals of more bits than this are refused: they are typing errors, not weights."""


_LARGEST_POWER: Final = 120_000
"""The largest power of e: it has about as many digits as the largest rationals."""

_LARGEST_ROOT: Final = 4096
"""Roots of rationals of more bits than this are refused."""

_LARGEST_RATIO: Final = 1000
"""A quotient of logs is recognised as a fraction of numbers up to this."""

_MOST_TERMS: Final = 2000
"""Symbolic sums of more terms than this are refused."""

LARGEST_EXPONENT: Final = 50_000
"""The largest exponent of a decimal literal, up or down."""

LONGEST_LITERAL: Final = 1000
"""Literals of more digits are slow to work with, and beyond the precision of any double."""


class WeightError(ValueError):
    """Arithmetic that has no real, finite result; the message is in plain words."""


# ------------------------------------------------------------------ text and floats

_NUMBER = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?")


def parse(text: str) -> int | Fraction:
    """The exact value of a decimal literal (``12``, ``.5``, ``3.3e-4165``).

    Raises ArithmeticMistake if it is no number, or its digits or its exponent are out of all proportion.
    """
    match = _NUMBER.fullmatch(text)
    if not match or not (match[2] or match[3]):
        raise WeightError(f"`{shortened(text)}` is not a number")
    if len(match[2]) + len(match[3] or "") > LONGEST_LITERAL:
        raise WeightError(f"`{shortened(text)}` has more than {LONGEST_LITERAL:,} digits")
    if len(match[4] or "") > 6 or abs(int(match[4] or 0)) > LARGEST_EXPONENT:
        raise WeightError(f"the exponent of `{shortened(text)}` is too large")
    return _tidy(Fraction(text))


def to_float(number: Number) -> float:
    """The nearest double (up to an ulp or two for irrationals); ±inf past the range of doubles."""
    if isinstance(number, LogNumber):
        return rational_float(number.rational) + log_float(number.base) / rational_float(number.root)
    if isinstance(number, Symbolic):
        return float(number.digits)
    if isinstance(number, LogSum):
        sums = (rational_float(times) * _log_sum_float(terms) for terms, times in number.parts)
        return sum(sums, to_float(number.rest))
    return rational_float(number)


def _log_sum_float(terms: Sequence[Number]) -> float:
    largest = to_float(terms[-1])
    return largest + math.log(math.fsum(math.exp(to_float(term) - largest) for term in terms))


def text(number: Number) -> str:
    """The number as plx would write it: ``0.3``, ``1/3``, ``log(6)``, ``1 + log(2)/2``."""
    if isinstance(number, LogNumber):
        return _log_text(number)
    if isinstance(number, Symbolic):
        return symbolic.text(number.expression, number.digits)
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
    """The exact sum. Raises ArithmeticMistake if it is out of all proportion."""
    if _is_rational(a) and _is_rational(b):
        return _tidy(_checked(Fraction(a) + Fraction(b)))
    if isinstance(a, LogSum) or isinstance(b, LogSum):
        return _merged(a, b)
    if isinstance(a, Symbolic) or isinstance(b, Symbolic):
        return _symbolic_sum(a, b)
    found = _sum_of_logs(_as_log(a), _as_log(b))
    return _symbolic_sum(a, b) if found is None else found


def _sum_of_logs(a: LogNumber, b: LogNumber) -> Number | None:
    """The exact sum, None where its one logarithm would be of a number out of all proportion."""
    root = math.lcm(a.root, b.root)
    powers = ((a.base, root // a.root), (b.base, root // b.root))
    if sum(_bits(base) * power for base, power in powers) > _LARGEST:
        return None
    base = powers[0][0] ** powers[0][1] * powers[1][0] ** powers[1][1]
    return _log_number(a.rational + b.rational, base, root)


def total(numbers: Sequence[Number]) -> Number:
    """The exact sum of any number of numbers: neighbours first, so that few sums have many digits."""
    while len(numbers) > 1:
        pairs = zip(numbers[::2], numbers[1::2], strict=False)
        numbers = [add(a, b) for a, b in pairs] + list(numbers[len(numbers) & ~1 :])
    return numbers[0] if numbers else 0


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
        return _symbolic_product(a, b)
    factor = Fraction(a)
    if not factor:
        return 0
    power, root = factor.numerator, b.root * factor.denominator
    shared = math.gcd(power, root)
    power, root = power // shared, root // shared
    base, root = primitive(b.base, root)
    if _bits(base) * abs(power) > _LARGEST:
        return _symbolic(_expression(a) * _expression(b))
    return _log_number(b.rational * factor, base**power, root)


def div(a: Number, b: Number) -> Number:
    """The exact quotient. Raises ArithmeticMistake for a divisor of 0."""
    if b == 0:
        raise WeightError("division by zero")
    if _is_rational(b):
        return mul(a, _tidy(1 / Fraction(b)))
    if isinstance(a, LogNumber) and isinstance(b, LogNumber):
        ratio = _ratio(a, b)
        if ratio is not None:
            return ratio
    return 1 if a == b else _symbolic(_expression(a) / _expression(b))


def _ratio(a: LogNumber, b: LogNumber) -> Number | None:
    """a / b where it is a fraction of small numbers, such as that of log(9/100) and log(10/3)."""
    near = to_float(a) / to_float(b)
    if not abs(near) < _LARGEST_RATIO:
        return None
    ratio = _tidy(Fraction(near).limit_denominator(_LARGEST_RATIO))
    return ratio if mul(b, ratio) == a else None


def mod(a: Number, b: Number) -> Number:
    """The remainder with the sign of the divisor, as in Python."""
    if b == 0:
        raise WeightError("remainder of a division by zero")
    if not (_is_rational(a) and _is_rational(b)):
        raise WeightError("`%` needs rational numbers")
    return _tidy(Fraction(a) % Fraction(b))


def power(a: Number, b: Number) -> Number:
    """a to the power of b. Raises ArithmeticMistake where that is no real number, or far too large."""
    if a == 0 and compare(b, 0) < 0:
        raise WeightError("division by zero: 0 to a negative power")
    if _is_rational(b) and Fraction(b).denominator == 1 and _is_rational(a):
        if _bits(Fraction(a)) * abs(int(b)) > _LARGEST:
            raise WeightError(f"{shown(a)} ^ {shown(b)} is too large")
        return _tidy(Fraction(a) ** int(b))
    whole = _is_rational(b) and Fraction(b).denominator == 1
    if compare(a, 0) < 0 and not whole:
        raise WeightError(f"{shown(a)} ^ {shown(b)} is no real number")
    if a == 0:
        return 0
    if _size(a) * abs(to_float(b)) > _LARGEST:
        raise WeightError(f"{shown(a)} ^ {shown(b)} is too large")
    if not whole:
        _check_root(a)
    return _whole_power(a, int(b)) if whole else _symbolic(_expression(a) ** _expression(b))  # type: ignore[arg-type]


def _check_root(a: Number) -> None:
    """sympy looks for the prime factors of what it takes a root of."""
    if _is_rational(a) and _bits(Fraction(a)) > _LARGEST_ROOT:
        raise WeightError(f"{shown(a)} has too many digits for an exact root")


def _whole_power(a: Number, n: int) -> Number:
    """By squares, so that every step can be refused."""
    if n < 0:
        return div(1, _whole_power(a, -n))
    root: Number = 1 if n < 2 else _whole_power(a, n // 2)
    square = mul(root, root)
    return mul(square, a) if n % 2 else square


def _size(a: Number) -> float:
    """How many bits a number has before and after the point, at least 1."""
    if _is_rational(a):
        return _bits(Fraction(a))
    size = abs(to_float(a))
    return max(1.0, abs(math.log2(size))) if 0 < size < math.inf else float(_LARGEST)


def log(a: Number) -> Number:
    """The natural logarithm. Raises ArithmeticMistake for a ≤ 0."""
    if compare(a, 0) <= 0:
        raise WeightError(f"log({shown(a)}): the logarithm of a number that is not positive")
    if _is_rational(a):
        return _log_number(Fraction(0), Fraction(a), 1)
    return _symbolic(symbolic.load().log(_expression(a)))


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
    if abs(to_float(a)) > _LARGEST_POWER:
        raise WeightError(f"exp({shown(a)}) is too {'large' if compare(a, 0) > 0 else 'small'}")
    return _symbolic(symbolic.load().exp(_expression(a)))


def sqrt(a: Number) -> Number:
    """The square root. Raises ArithmeticMistake for a < 0."""
    if compare(a, 0) < 0:
        raise WeightError(f"sqrt({shown(a)}): the square root of a negative number")
    if _is_rational(a):
        root = rational_root(Fraction(a), 2)
        if root is not None:
            return _tidy(root)
        _check_root(a)
    return _symbolic(symbolic.load().sqrt(_expression(a)))


def logit(a: Number) -> Number:
    """log(a / (1 - a)). Raises ArithmeticMistake unless 0 < a < 1."""
    if compare(a, 0) <= 0 or compare(a, 1) >= 0:
        raise WeightError(f"logit({shown(a)}): the argument must lie between 0 and 1")
    return log(div(a, sub(1, a)))


def floor(a: Number) -> int:
    """The largest integer that is not above a. Raises ArithmeticMistake for an irrational past 2^53."""
    if _is_rational(a):
        return math.floor(a)
    near = to_float(a)
    if abs(near) > 2.0**53:
        raise WeightError(f"floor({shown(a)}): the number is too large")
    whole = math.floor(near)
    return whole - (compare(a, whole) < 0) + (compare(a, whole + 1) >= 0)


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
    return symbolic.sign(_expression(difference))


# ------------------------------------------------------------------ canonical forms


def _is_rational(a: Number) -> TypeGuard[int | Fraction]:
    return isinstance(a, int | Fraction)


def _tidy(q: Fraction) -> int | Fraction:
    return q.numerator if q.denominator == 1 else q


def _checked(q: Fraction) -> Fraction:
    if _bits(q) > _LARGEST:
        raise WeightError("a number is too large")
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


def _expression(a: Number) -> Any:
    """The number as an expression of sympy."""
    if isinstance(a, Symbolic):
        return a.expression
    if isinstance(a, LogSum):
        sums = (_expression(times) * symbolic.log_of_sum(map(_expression, terms)) for terms, times in a.parts)
        return sum(sums, _expression(a.rest))
    if isinstance(a, LogNumber):
        log = symbolic.load().log(symbolic.rational(a.base))
        return symbolic.rational(a.rational) + log / a.root
    return symbolic.rational(Fraction(a))


def _symbolic(expression: Any) -> Number:
    """The canonical form of an expression."""
    return _simplest(symbolic.expanded(expression))


def _symbolic_sum(a: Number, b: Number) -> Number:
    """The sum of what is in canonical form, and so is again; ArithmeticMistake if it is very long."""
    expression = _expression(a) + _expression(b)
    if symbolic.term_count(expression) > _MOST_TERMS:
        raise WeightError(f"a sum of more than {_MOST_TERMS:,} irrational numbers")
    return _simplest(expression)


def _symbolic_product(a: Number, b: Number) -> Number:
    """The product; ArithmeticMistake where writing it out is out of all proportion."""
    left, right = _expression(a), _expression(b)
    if symbolic.term_count(left) * symbolic.term_count(right) > _MOST_TERMS:
        raise WeightError(f"a product of more than {_MOST_TERMS:,} irrational numbers")
    return _symbolic(left * right)


def _simplest(expression: Any) -> Number:
    """An expanded expression, back in a simpler form where it has one."""
    try:
        simpler = _from_terms(list(symbolic.linear(expression)))
    except ValueError:
        simpler = None
    if simpler is not None:
        return simpler
    digits = symbolic.digits(expression)
    if digits is None:
        raise WeightError(f"{symbolic.text(expression, 'the result')} is no real number")
    return 0 if digits == "0" else Symbolic(digits, expression)


def _from_terms(terms: Sequence[tuple[Fraction, Fraction | None]]) -> Number | None:
    """Σ times · log(base), or times alone; None where that is out of all proportion."""
    total: Number = 0
    for times, base in terms:
        part: Number = _tidy(times)
        if base is not None:
            base, root = primitive(base, times.denominator)
            if _bits(base) * abs(times.numerator) > _LARGEST:
                return None
            part = _log_number(Fraction(0), base**times.numerator, root)
        found = _sum_of_logs(_as_log(total), _as_log(part))
        if found is None:
            return None
        total = found
    return total
