"""How large a grounding may become, and the refusal of what is larger."""

from __future__ import annotations

from plx.check.program import Scope
from plx.errors import Diagnostic, PlxError
from plx.ground.bind import count_candidates
from plx.ground.env import Env
from plx.ground.evaluate import Evaluator
from plx.source import Span

MAX_GROUND = 50_000_000
"""The default limit on the instances of one rule, aggregates inside it counted one by one."""

BYTES_PER_INSTANCE = 80
"""Memory per instance of a rule over three variables and three unknowns, measured."""


class Budget:
    """Instances that one rule may still use."""

    def __init__(self, span: Span | None, limit: int) -> None:
        self.span = span
        self.limit = limit
        self.used = 0

    def spend(self, evaluator: Evaluator, env: Env, scope: Scope) -> int:
        """Count the instances of a scope before they are built; too many are refused."""
        count = count_candidates(evaluator, env, scope, self.limit - self.used)
        self.used += count
        if self.used > self.limit:
            raise PlxError(self._refusal())
        return count

    def _refusal(self) -> Diagnostic:
        gigabytes = self.used * BYTES_PER_INSTANCE / 1e9
        return Diagnostic(
            f"this has {self.used:,} ground instances or more, about {gigabytes:.1f} GB; "
            f"the limit is {self.limit:,}",
            self.span,
            hint="bind over a relation or add a guard, or raise the limit with `--max-ground`",
        )
