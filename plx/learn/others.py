"""Each unknown of a complete world predicted from all others: what the pseudo-likelihood is made of."""

from __future__ import annotations

import numpy as np

from plx.errors import Diagnostic, PlxError
from plx.graph.ragged import starts
from plx.learn.blocks import Moves, moves
from plx.learn.changes import changes
from plx.learn.worlds import World
from plx.numerals import counted
from plx.values import FloatArray


def from_others(world: World) -> tuple[list[FloatArray], float]:
    """The distribution of every variable of ``free`` given all others, and the log pseudo-likelihood.

    Unknowns that hard rules tie are predicted together, from all others. The world's numbers have values.
    Raises PlxError where something is hidden, and as `moves`.
    """
    require_complete(world)
    graph, states, put = world.free.graph, world.states, moves(world)
    found = changes(graph, states, put)
    logs = np.bincount(found.move, graph.table[found.after] - graph.table[found.before], len(put.block))
    top = np.zeros(put.n_blocks)
    np.maximum.at(top, put.block, logs)
    powers = np.exp(logs - top[put.block])
    total = np.bincount(put.block, powers, put.n_blocks) + np.exp(-top)
    chance, stays = powers / total[put.block], np.exp(-top) / total
    first = starts(graph.card[: graph.n_variables].astype(np.int64))
    flat = np.bincount(first[put.variable] + put.state, chance[put.move], int(first[-1]))
    observed = first[:-1] + states
    flat[observed] += _kept(put, chance, stays, graph.n_variables)
    return np.split(flat, first[1:-1]) if len(states) else [], -float((top + np.log(total)).sum())


def _kept(put: Moves, chance: FloatArray, stays: FloatArray, n_variables: int) -> FloatArray:
    """P(the observed state) of every variable: that its block stays, or moves without it.

    The complement of the other states would be 0 for what is less likely than rounding.
    """
    moved = np.bincount(put.variable, chance[put.move], n_variables)
    by_block = np.bincount(put.block, chance, put.n_blocks)
    out = np.ones(n_variables)
    block = put.block[put.move]
    out[put.variable] = stays[block] + np.maximum(by_block[block] - moved[put.variable], 0.0)
    return out


def require_complete(world: World) -> None:
    """Raises PlxError, which names some of them, where unknowns are hidden."""
    hidden = world.hidden
    if not hidden:
        return
    listed = ", ".join(f"`{name}`" for name in hidden[:3]) + (", …" if len(hidden) > 3 else "")
    verb = "is" if len(hidden) == 1 else "are"
    message = (
        f"complete worlds are needed, but {counted(len(hidden), 'unknown')} {verb} not observed: {listed}"
    )
    hint = "observe them too; `observe f from … else false` says that what is not listed is false"
    raise PlxError(Diagnostic(message, hint=hint))
