"""What helps a program that mixes badly, in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from plx.infer.mixing.report import AGREE, Part, Trial, rhat_text

_FASTER = 1.5
"""Another method is named if it is so many times as fast."""

_STRONG = 3.0
"""A log weight that ties unknowns so that one hardly moves without the others (e³ is 20)."""


def remedies(
    families: Sequence[Part], rules: Sequence[Part], trials: Sequence[Trial], exact: str | None
) -> tuple[str, ...]:
    """What to do, most helpful first. The first trial is of the method asked for, from which parts come."""
    return tuple(_remedies(families, rules, trials, exact))


def _remedies(
    families: Sequence[Part], rules: Sequence[Part], trials: Sequence[Trial], exact: str | None
) -> Iterator[str]:
    mine, others = trials[0], trials[1:]
    if math.isinf(mine.rhat):
        yield "there were too few draws to tell: give it more --seconds"
    elif mine.missed and mine.rhat < AGREE and not mine.stuck:
        yield (
            f"the chains agree under {mine.method}, but hardly any came near the most probable world, which"
            " may weigh more than all that they met"
        )
    elif mine.mixes:
        yield f"the chains agree (largest R-hat {rhat_text(mine.rhat)}): no part holds them apart"
    else:
        yield _where(families[0], mine)
    if exact is not None:
        yield f"exact answers are in reach, and need no mixing: --method exact ({exact})"
    better = [trial for trial in others if trial.mixes and _beats(trial, mine)]
    if better:
        yield _other_method(max(better, key=lambda trial: trial.ess_per_second), mine)
    if mine.mixes or math.isinf(mine.rhat):
        return
    if not better and not any(trial.mixes for trial in others):
        tried = ", ".join(trial.method for trial in others if not trial.why)
        yield (
            f"none of the other methods tried ({tried}) mixes either"
            if tried
            else "no other method was tried"
        )
    yield from _about_rules([rule for rule in rules if rule.stuck or rule.rhat >= AGREE])


def _where(part: Part, mine: Trial) -> str:
    """Which unknowns the chains disagree about."""
    text = f"under {mine.method} the chains disagree most about `{part.name}`"
    text += "" if part.worst == part.name else f", as {part.worst}"
    text += f" (R-hat {rhat_text(part.rhat)})"
    return text + (f"; {part.stuck:,} of {part.unknowns:,} hardly move at all" if part.stuck else "")


def _beats(trial: Trial, mine: Trial) -> bool:
    return not mine.mixes or trial.ess_per_second > _FASTER * mine.ess_per_second


def _other_method(best: Trial, mine: Trial) -> str:
    text = f"--method {best.method} mixes here (R-hat {rhat_text(best.rhat)},"
    text += f" {best.ess_per_second:,.0f} effective samples a second of the slowest unknown"
    if mine.mixes and mine.ess_per_second > 0:
        text += f", {best.ess_per_second / mine.ess_per_second:,.1f} times as many as {mine.method}"
    return text + ")"


def _about_rules(bad: Sequence[Part]) -> Iterator[str]:
    """What to change in the strongest rules about what disagrees."""
    hard = [rule for rule in bad if rule.strength == math.inf]
    strong = [rule for rule in bad if rule.strength is not None and _STRONG <= rule.strength < math.inf]
    if hard:
        named = " and ".join(map(_named, hard[:2]))
        yield f"hard rules leave few ways between worlds: have fewer, or make weights of {named}"
    for rule in strong[:2]:
        yield (
            f"{_named(rule)} ties its unknowns by a log weight of {rule.strength:.3g}, so that they move as"
            " a block or not at all: let one unknown stand for the block, or lower the weight"
        )
    if bad and not hard and not strong:
        yield f"no rule is strong by itself; {_named(bad[0])} is about what disagrees: give it more --seconds"


def _named(rule: Part) -> str:
    return f"`{rule.name}`" + ("" if rule.line is None else f" (line {rule.line})")
