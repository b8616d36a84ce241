"""Permutation groups as layers: order, orbits, generators, direct factors, uniform elements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from plx.graph.components import component_numbers
from plx.graph.model import Int32Array
from plx.lift.layers import Layer
from plx.lift.schreier_sims import StabiliserChain, stabiliser_chain
from plx.values import IntArray


@dataclass(frozen=True)
class Group:
    """A group on ``degree`` points, the product of its layers in order.

    Every element is l₀∘l₁∘…, with one element of each copy of each layer, in exactly one way; so the
    order is the product of theirs and a uniform element is a product of uniform ones.
    """

    degree: int
    layers: tuple[Layer, ...] = ()

    @cached_property
    def order(self) -> int:
        """The number of elements, exactly."""
        order = 1
        for layer in self.layers:
            order *= layer.total_order
        return order

    @cached_property
    def orbits(self) -> IntArray:
        """The number of the orbit of every point, by first point."""
        left, right = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
        for layer in self.layers:
            first = layer.points[:, :1]
            images = layer.points[:, 1:] if layer.is_symmetric else layer.points[:, 0][:, layer.generators]
            left.append(np.broadcast_to(first, images.shape).ravel())
            right.append(images.ravel())
        return component_numbers(self.degree, np.concatenate(left), np.concatenate(right))

    def generators(self) -> Iterator[tuple[IntArray, IntArray]]:
        """Generators as points and their images; points that stay are left out.

        Two for each symmetric copy, an exchange of two blocks and a rotation of all.
        """
        for layer in self.layers:
            for copy in layer.points:
                if layer.is_symmetric:
                    yield copy[:2].ravel(), copy[1::-1].ravel()
                    if len(copy) > 2:
                        yield copy.ravel(), np.roll(copy, -1, axis=0).ravel()
                else:
                    for generator in layer.generators:
                        moved = np.flatnonzero(generator != np.arange(len(generator)))
                        yield copy[0, moved], copy[0, generator[moved]]

    @cached_property
    def chains(self) -> tuple[StabiliserChain | None, ...]:
        """The stabiliser chain of every generated layer. Raises GroupTooLarge past memory."""
        return tuple(
            None if layer.is_symmetric else stabiliser_chain(layer.generators, layer.order)
            for layer in self.layers
        )

    def random(self, rng: np.random.Generator) -> IntArray:
        """A uniform element, as the images of all points."""
        image = np.arange(self.degree)
        for layer, chain in zip(reversed(self.layers), reversed(self.chains), strict=True):
            step = np.arange(self.degree)
            for copy in layer.points:
                if chain is None:
                    step[copy] = copy[rng.permutation(len(copy))]
                else:
                    step[copy[0]] = copy[0, chain.random(rng)]
            image = step[image]
        return image

    @cached_property
    def factors(self) -> tuple[Group, ...]:
        """The direct factors that the layers show: groups that move no point in common."""
        pieces = [(i, c) for i, layer in enumerate(self.layers) for c in range(len(layer.points))]
        left = np.concatenate(
            [np.full(self.layers[i].points[c].size, k) for k, (i, c) in enumerate(pieces)]
            + [np.empty(0, dtype=np.int64)]
        )
        right = np.concatenate(
            [self.layers[i].points[c].ravel() for i, c in pieces] + [np.empty(0, dtype=np.int64)]
        )
        label = component_numbers(len(pieces) + self.degree, left, len(pieces) + right)[: len(pieces)]
        found: dict[int, list[Layer]] = {}
        for (i, c), number in zip(pieces, label.tolist(), strict=True):
            layer = self.layers[i]
            found.setdefault(number, []).append(Layer(layer.points[c : c + 1], layer.generators, layer.order))
        return tuple(Group(self.degree, tuple(layers)) for layers in found.values())


def image_of(degree: int, points: IntArray, images: IntArray) -> Int32Array:
    """A permutation of all points from those that it moves."""
    out = np.arange(degree, dtype=np.int32)
    out[points] = images
    return out
