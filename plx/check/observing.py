"""A program with some of its observations left out."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from plx.check.program import Program, RandomTerm, Rule
from plx.check.walk import parts


def observing(program: Program, randoms: Collection[str]) -> Program:
    """The program with those observations alone that are about these random functions."""
    return replace(
        program,
        evidence=tuple(evidence for evidence in program.evidence if evidence.random in randoms),
        rules=tuple(rule for rule in program.rules if rule.kind != "observe" or _within(rule, randoms)),
    )


def _within(rule: Rule, randoms: Collection[str]) -> bool:
    found = {part.name for part in parts(rule.body) if isinstance(part, RandomTerm)}
    return found <= set(randoms)
