"""Why there is no world: the rules, observations and ``given`` that rule one another out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from plx.errors import NoWorldError, PlxError
from plx.origin import Origin

if TYPE_CHECKING:
    from plx.ground.given import QueryGroup


@contextmanager
def explained(origin: Origin, group: QueryGroup | None = None) -> Iterator[None]:
    """Where what is done inside finds no world, or none with the ``given`` of a group of queries,
    the PlxError says why, as far as the hard rules can be grounded."""
    try:
        yield
    except NoWorldError as error:
        raise _why(origin, group, error) from None


def _why(origin: Origin, group: QueryGroup | None, error: NoWorldError) -> PlxError:
    from plx.infer.hard.contradiction import contradiction, possible

    try:
        hard = origin.hard()
    except PlxError:
        return error
    given = hard.queries[group.positions[0]].given if group and group.given else ()
    if not given or not possible(hard):
        return origin.blamed(contradiction(hard))
    if all(fact.node >= 0 for fact in given):
        error = contradiction(hard, [(fact.node, fact.state) for fact in given])
    span = given[0].span.to(given[-1].span)
    return error.reason_for(f"the given of line {span.line} has probability 0", span)
