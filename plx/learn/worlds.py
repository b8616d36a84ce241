"""One world of data: what a program says without the observations, and with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from plx.graph.model import GroundModel
from plx.learn.log_z import LogZ, TooWideError
from plx.values import IntArray


@dataclass(frozen=True, eq=False)
class World:
    """The same program twice, its learned numbers as names: ``free`` without what was observed, ``seen`` with
    it. Functions that a fit conditions on are observed in both. The two share their values and atoms."""

    free: GroundModel
    seen: GroundModel

    @cached_property
    def states(self) -> IntArray:
        """The observed state of every variable of ``free``, -1 for those that are hidden."""
        atoms, fixed = self.free.atoms, self.seen.atoms.fixed[self.free.atoms.atom_of]
        out = np.full(len(fixed), -1, dtype=np.int64)
        for domain in np.unique(atoms.domain[atoms.atom_of]):
            mine = np.flatnonzero((atoms.domain[atoms.atom_of] == domain) & (fixed >= 0))
            ids = atoms.domains[int(domain)]
            order = np.argsort(ids)
            out[mine] = order[np.searchsorted(ids[order], fixed[mine])]
        return out

    @property
    def is_apart(self) -> bool:
        """Whether all is observed, and no factor is over two unknowns, or hard."""
        graph = self.free.graph
        alone = not graph.n_derived and bool((np.diff(graph.scope_start) == 1).all())
        return alone and not np.isneginf(graph.table).any() and bool((self.states >= 0).all())

    @property
    def n_observed(self) -> int:
        """How many unknowns were observed."""
        return int((self.states >= 0).sum())

    @property
    def hidden(self) -> list[str]:
        """The names of the unknowns that were not."""
        atoms = self.free.atoms
        return [atoms.name(int(atoms.atom_of[v])) for v in np.flatnonzero(self.states < 0)]


def log_likelihood(worlds: Sequence[World]) -> float | None:
    """The log-likelihood of worlds whose numbers have values; None where it is out of reach."""
    try:
        parts = [(LogZ(world.seen, ()), LogZ(world.free, ())) for world in worlds]
        none = np.empty(0)
        return float(sum(seen(none)[0] - free(none)[0] for seen, free in parts))
    except TooWideError:
        return None
