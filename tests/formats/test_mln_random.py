"""Random Markov logic networks against a sum over worlds that knows nothing of plx."""

from __future__ import annotations

import math
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import assume, given, settings

import plx
from plx.errors import PlxError
from tests.formats.mln_worlds import Network, is_read, marginals, networks, text


def _model(network: Network, **options: object) -> plx.Model:
    with TemporaryDirectory() as folder:
        mln, db = Path(folder) / "a.mln", Path(folder) / "a.db"
        mln.write_text(text(network)[0])
        db.write_text(text(network)[1])
        return plx.load(mln, db, closed=sorted(network.closed), **options)


def _clashes(network: Network) -> bool:
    """Whether the database itself gives R two values for one t."""
    values = [atom[1] for holds, atom in network.facts if holds and atom[0] == "R"]
    return len(values) != len(set(values))


@settings(max_examples=150, deadline=None)
@given(networks)
def test_marginals_are_those_of_all_worlds(network: Network) -> None:
    assume(is_read(network) and not _clashes(network))
    log_z, expected = marginals(network)
    asked = [atom for atom in sorted(expected) if atom[0] not in network.closed]
    texts = [f"{name}({', '.join(terms)})" for name, *terms in asked]
    model = _model(network, query=texts) if log_z > -math.inf else None
    if model is None:
        with pytest.raises(PlxError):
            _model(network).run(method="exact")
        return
    result = model.run(method="exact")
    assert result.log_z == pytest.approx(log_z, abs=1e-9)
    for number, atom in enumerate(asked):
        assert result[number].probability == pytest.approx(expected[atom], abs=1e-9), atom


@settings(max_examples=50, deadline=None)
@given(networks)
def test_the_text_says_the_same(network: Network) -> None:
    assume(is_read(network) and not _clashes(network) and marginals(network)[0] > -math.inf)
    model = _model(network)
    again, direct = plx.compile(model.origin.program_text()).run(method="exact"), model.run(method="exact")
    assert again.log_z == direct.log_z
    assert [(q.name, q.distribution) for q in again] == [(q.name, q.distribution) for q in direct]
