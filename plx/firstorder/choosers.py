"""Worlds of a program that is not grounded, chosen in the way that its cells ask for."""

from __future__ import annotations

from plx.firstorder.cell_worlds import Chooser, HistogramCells, choose_cells
from plx.firstorder.counted_cells import CountedCells
from plx.firstorder.counted_worlds import CountedChooser
from plx.firstorder.ordered_worlds import OrderedCells
from plx.firstorder.pair_total_sums import PairTotalSums
from plx.firstorder.pair_total_worlds import PairTotalChooser
from plx.firstorder.picks import Pick
from plx.firstorder.structure import Structure
from plx.firstorder.worlds import Layout, Worlds
from plx.values import FloatArray


def choose(
    cells: Structure | CountedCells | PairTotalSums, pick: Pick, count: int, layout: Layout
) -> tuple[Worlds, FloatArray]:
    """So many worlds, and the log weight [count] of what was chosen for each. What ``layout`` needs to know
    of what pairs share is set. Raises NotLiftableError for too much, and NoWorldError."""
    return choose_cells(cells.base, _chooser(cells, pick, layout), pick, count)


def _chooser(cells: Structure | CountedCells | PairTotalSums, pick: Pick, layout: Layout) -> Chooser:
    if isinstance(cells, CountedCells):
        counted = CountedChooser(cells, pick)
        layout.shared = counted.shared
        return counted
    if isinstance(cells, PairTotalSums):
        pairs = PairTotalChooser(cells, pick)
        layout.shared = pairs.shared
        return pairs
    return OrderedCells(cells, pick) if cells.base.before else HistogramCells(cells, pick)
