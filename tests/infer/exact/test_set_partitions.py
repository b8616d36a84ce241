"""Sums over the partitions of a set, against all partitions one by one."""

from __future__ import annotations

import numpy as np
import pytest

from plx.infer.exact.relations import parted, parting_operations, partings
from plx.infer.exact.set_partitions import SetPartitions, contracted, labellings
from tests.infer.frequencies import agree


def pairs(n: int, seed: int, apart: float = 0.2) -> np.ndarray:
    """Random symmetric weights; some pairs are kept apart."""
    rng = np.random.default_rng(seed)
    upper = np.triu(np.where(rng.random((n, n)) < apart, -np.inf, rng.normal(scale=2, size=(n, n))), 1)
    return np.where(np.tri(n, k=-1, dtype=bool), upper.T, upper)


def weights(pair: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every partition as labels (n, partitions), and its log weight."""
    n = len(pair)
    labels = np.array(list(labellings(n))).T
    logs = np.zeros(labels.shape[1])
    for i in range(n):
        for j in range(i):
            logs[labels[i] == labels[j]] += pair[i, j]
    return labels, logs


def codes(blocks: np.ndarray) -> np.ndarray:
    """A number for each partition, from whatever tells its blocks apart, shape (n, partitions)."""
    n = len(blocks)
    same = [blocks[i] == blocks[j] for i in range(n) for j in range(i)]
    return (1 << np.arange(len(same))) @ np.array(same).reshape(len(same), blocks.shape[1])


def test_partitions_that_weigh_nothing_are_counted() -> None:
    bell = [1, 1, 2, 5, 15, 52, 203, 877, 4140, 21147, 115975, 678570, 4213597]
    for n, count in enumerate(bell):
        found = SetPartitions(np.zeros((n, n)))
        assert np.exp(found.log_sum) == pytest.approx(count, rel=1e-12)
        assert partings(n) == count
        assert n > 7 or sum(1 for _ in labellings(max(n, 1))) == bell[max(n, 1)]


@pytest.mark.parametrize(("n", "seed"), [(1, 0), (2, 0), (3, 1), (5, 2), (6, 3), (7, 4)])
def test_sums_and_pairs_are_those_of_all_partitions(n: int, seed: int) -> None:
    pair = pairs(n, seed)
    labels, logs = weights(pair)
    found = SetPartitions(pair)
    assert found.log_sum == pytest.approx(np.logaddexp.reduce(logs), abs=1e-12)
    p = np.exp(logs - np.logaddexp.reduce(logs))
    same = (labels[:, None] == labels) @ p
    np.testing.assert_allclose(found.together, same, atol=1e-12)


def test_the_same_sums_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = pairs(8, 5)
    whole = SetPartitions(pair).inside
    monkeypatch.setattr("plx.infer.exact.set_partitions._TOGETHER", 8)
    np.testing.assert_array_equal(SetPartitions(pair).inside, whole)


def test_weights_that_span_thousands_of_orders_of_magnitude() -> None:
    pair = 3000 * pairs(6, 6)
    _, logs = weights(pair)
    assert SetPartitions(pair).log_sum == pytest.approx(np.logaddexp.reduce(logs), rel=1e-12)


@pytest.mark.parametrize("count", [1, 4, 1000])
def test_the_best_are_listed_in_order_each_once(count: int) -> None:
    pair = np.round(pairs(6, 7))  # ties
    labels, logs = weights(pair)
    blocks, totals = SetPartitions(pair).best(count)
    possible = int(np.isfinite(logs).sum())
    assert len(totals) == min(count, possible)
    np.testing.assert_array_equal(totals, np.sort(logs)[::-1][: len(totals)])
    found = codes(blocks)
    assert len(set(found.tolist())) == len(found)
    by_code = dict(zip(codes(labels).tolist(), logs.tolist(), strict=True))
    np.testing.assert_array_equal([by_code[code] for code in found.tolist()], totals)


def test_draws_are_by_weight() -> None:
    pair = pairs(5, 8)
    labels, logs = weights(pair)
    drawn = SetPartitions(pair).draw(3000, np.random.default_rng(1))
    order = np.argsort(codes(labels))
    place = np.searchsorted(codes(labels)[order], codes(drawn))
    assert agree(place, np.exp(logs - np.logaddexp.reduce(logs))[order])


def test_elements_taken_as_one_are_together() -> None:
    pair, labels = pairs(6, 9, apart=0.0), np.array([0, 1, 0, 2, 3, 1])
    every, logs = weights(pair)
    kept = (every[0] == every[2]) & (every[1] == every[5])
    found, inner = contracted(pair, labels)
    assert found.log_sum + inner == pytest.approx(np.logaddexp.reduce(logs[kept]), abs=1e-12)
    pair[0, 2] = pair[2, 0] = -np.inf
    assert contracted(pair, labels)[1] == -np.inf


def test_some_elements_parted_in_all_ways_make_the_whole() -> None:
    whole, elements = SetPartitions(pairs(6, 10)), np.array([1, 3, 4])
    ways = list(parted(whole, elements))
    assert len(ways) == 5 == partings(3)
    assert np.logaddexp.reduce([log for _, log in ways]) == pytest.approx(whole.log_sum, abs=1e-12)
    assert parting_operations(6, 3) < 5 * parting_operations(6, 0)
