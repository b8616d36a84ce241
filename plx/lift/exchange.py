"""Value swaps that exchange equal derived nodes: ``X=1 ∨ rest`` with ``X=2 ∨ rest``."""

from __future__ import annotations

import numpy as np

from plx.graph.model import FactorGraph
from plx.graph.ragged import owners, segments, starts
from plx.graph.rows import unique_rows
from plx.values import IntArray


def merge_by_exchange(graph: FactorGraph, classes: IntArray, possible: IntArray) -> None:
    """Merge, in place, value classes whose exchange also exchanges equal derived nodes.

    ``classes`` [Σ card of the variables] gives the first state of the class of each state, and
    ``possible`` the same for the coarsest classes that the tables over variables allow. What the
    signatures suggest is verified in full before it is merged.
    """
    card = graph.card[: graph.n_variables]
    start = starts(card)
    variable = np.repeat(np.arange(graph.n_variables), card)
    state = np.arange(len(variable)) - start[variable]
    read = np.zeros(graph.n_nodes, dtype=bool)
    read[graph.input_node] = True
    first = np.flatnonzero((classes == state) & read[variable])
    rows = np.stack([variable, possible, _signatures(graph, start)], axis=1)[first]
    _, alike = unique_rows(rows)
    size = np.bincount(alike)
    several = np.flatnonzero(size > 1)
    exchange = _Exchange(graph) if len(several) else None
    for group in several:
        pairs = first[alike == group]
        x = int(variable[pairs[0]])
        found: list[int] = []
        for v in state[pairs].tolist():
            twin = next((u for u in found if exchange and exchange.holds(x, u, v)), None)
            if twin is None:
                found.append(v)
            else:
                mine = classes[start[x] : start[x + 1]]
                mine[mine == v] = twin


def _signatures(graph: FactorGraph, start: IntArray) -> IntArray:
    """A hash per pair, equal for pairs whose exchange maps the derived nodes to themselves.

    It sums, over the derived nodes that read the variable, a mixture of what else the node reads
    and what this state contributes. An input that is derived may move too, so only its map counts.
    """
    rng = np.random.default_rng(19970101)
    n_maps, n_vectors = len(graph.output_start), len(graph.contribution_start)
    word = rng.integers(1, 2**63, size=graph.n_variables + n_maps)
    vector = rng.integers(1, 2**63, size=n_vectors) | 1
    owner = owners(graph.input_start)
    name = graph.input_node.astype(np.int64)
    inner = name >= graph.n_variables
    name[inner] = graph.n_variables + graph.output_of[name[inner] - graph.n_variables]
    part = word[name] * vector[graph.input_contribution]  # modulo 2⁶⁴
    total = word[graph.n_variables + graph.output_of]
    np.add.at(total, owner, part)
    rest = total[owner] - part
    edge = np.flatnonzero(~inner)
    count = graph.card[graph.input_node[edge]].astype(np.int64)
    pair = segments(start[graph.input_node[edge]], count)
    entry = segments(graph.contribution_start[graph.input_contribution[edge]], count)
    mixed = np.repeat(rest[edge], count) * (2 * graph.contribution[entry].astype(np.int64) + 1)
    mixed ^= mixed >> 29
    out = np.zeros(int(start[-1]), dtype=np.int64)
    np.add.at(out, pair, mixed * mixed)
    return out


class _Exchange:
    """Decides whether exchanging two states of a variable maps a graph to itself."""

    def __init__(self, graph: FactorGraph) -> None:
        self.graph = graph
        owner = owners(graph.input_start) + graph.n_variables
        self.readers = owner[np.argsort(graph.input_node, kind="stable")]
        self.reader_start = starts(np.bincount(graph.input_node, minlength=graph.n_nodes))
        factor = owners(graph.scope_start)
        self.factors = factor[np.argsort(graph.scope, kind="stable")]
        self.factor_start = starts(np.bincount(graph.scope, minlength=graph.n_nodes))
        vectors = (graph.contribution_of(k).tobytes() for k in range(len(graph.contribution_start) - 1))
        self.vectors = {vector: k for k, vector in enumerate(vectors)}

    def holds(self, x: int, u: int, v: int) -> bool:
        """Whether exchanging states u and v of variable x changes nothing."""
        image = self._images(x, u, v)
        return image is not None and self._keeps_factors(image, x, u, v)

    def _below(self, x: int) -> list[int]:
        """The derived nodes that depend on x, in order."""
        found: set[int] = set()
        front = [x]
        while front:
            node = front.pop()
            readers = self.readers[self.reader_start[node] : self.reader_start[node + 1]].tolist()
            front += set(readers) - found
            found.update(readers)
        return sorted(found)

    def _inputs(self, node: int) -> list[tuple[int, int]]:
        inputs = self.graph.inputs_of(node - self.graph.n_variables)
        return list(zip(inputs[0].tolist(), inputs[1].tolist(), strict=True))

    def _images(self, x: int, u: int, v: int) -> dict[int, int] | None:
        """Where the derived nodes that depend on x go; None if one goes nowhere."""
        below = self._below(x)
        output = {node: int(self.graph.output_of[node - self.graph.n_variables]) for node in below}
        by_content = {(output[node], frozenset(self._inputs(node))): node for node in below}
        image = {x: x}
        for node in below:
            inputs = frozenset(
                (image.get(source, source), self._swapped(k, u, v) if source == x else k)
                for source, k in self._inputs(node)
            )
            found = by_content.get((output[node], inputs))
            if found is None:
                return None
            image[node] = found
        return image

    def _swapped(self, vector: int, u: int, v: int) -> int:
        content = self.graph.contribution_of(vector).copy()
        content[[u, v]] = content[[v, u]]
        return self.vectors.get(content.tobytes(), -1)

    def _keeps_factors(self, image: dict[int, int], x: int, u: int, v: int) -> bool:
        graph = self.graph
        touched = {
            f for n in image for f in self.factors[self.factor_start[n] : self.factor_start[n + 1]].tolist()
        }
        by_scope = {tuple(graph.scope_of(f).tolist()): f for f in touched}
        for f in touched:
            scope = graph.scope_of(f).tolist()
            moved = [image.get(node, node) for node in scope]
            order = sorted(range(len(moved)), key=moved.__getitem__)
            other = by_scope.get(tuple(moved[i] for i in order))
            weight = graph.table_weights(f)
            if x in scope:
                states = np.arange(graph.card[x])
                states[[u, v]] = v, u
                weight = np.take(weight, states, axis=scope.index(x))
            if other is None or not np.array_equal(weight.transpose(order), graph.table_weights(other)):
                return False
        return True
