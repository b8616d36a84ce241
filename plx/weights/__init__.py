"""Exact weights: their identity is decided exactly, and doubles follow."""

from plx.weights.arithmetic import add, affine, compare, div, floor, mod, mul, neg, sub, total
from plx.weights.doubles import to_float
from plx.weights.forms import Affine, LogNumber, LogSum, Number, Symbolic, WeightError
from plx.weights.functions import count_terms, exp, log, log_sum_exp, logit, power, sqrt
from plx.weights.notation import LARGEST_EXPONENT, LONGEST_LITERAL, parse, shown, text
from plx.weights.ratios import NotRationalError, exponential

__all__ = [
    "LARGEST_EXPONENT",
    "LONGEST_LITERAL",
    "Affine",
    "LogNumber",
    "LogSum",
    "NotRationalError",
    "Number",
    "Symbolic",
    "WeightError",
    "add",
    "affine",
    "compare",
    "count_terms",
    "div",
    "exp",
    "exponential",
    "floor",
    "log",
    "log_sum_exp",
    "logit",
    "mod",
    "mul",
    "neg",
    "parse",
    "power",
    "shown",
    "sqrt",
    "sub",
    "text",
    "to_float",
    "total",
]
