"""Labelled arrays: an xarray Dataset of answers, and a tree of draws in the layout that ArviZ reads."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import plx
from plx.answer.result import Result

xarray = pytest.importorskip("xarray")

TEXT = """
type P = {anna, bob, cleo}
type Q = {x, y}
random colour(P): {red, green}
random smokes(x: P)
random level(chain: P): 0..2
random half(P): {0.5, 1.5}
random size(x: Q): 1..2
weight 0.7: colour(x) = red for x in P
weight 1: smokes(x) <=> level(x) > 1 for x in P
observe smokes(bob)
observe colour(cleo) = green
observe level(anna) = 2
query colour(x) for x in P
query smokes(x) for x in P if x != cleo
query smokes(x) & smokes(y) as both for x, y in P if x < y
query level(x) for x in P
query half(x) for x in P
query size(x) for x in Q
query count(smokes(x) for x in P) as n
query (smokes(anna), colour(anna))
query smokes(anna) given smokes(cleo)
query map
query logz
"""


@pytest.fixture(scope="module", params=["exact", "gibbs"])
def result(request: pytest.FixtureRequest) -> Result:
    return plx.run(TEXT, method=request.param, seed=1, draws=60)


def test_a_dataset_holds_every_answer_with_its_error(result: Result) -> None:
    found = result.to_xarray()
    for query in result:
        if query.kind in ("map", "logz"):
            continue
        where = {}
        for name, value in query.slots.items():
            own = f"{query.term}_{name}"
            where[own if own in found.dims else name.replace("chain", "chain_")] = value
        for what in ("", "_mcse", "_converged"):
            assert not np.isnan(found[query.term + what].sel(where).astype(float)).any()
        if query.kind == "probability":
            assert float(found[query.term].sel(where)) == query.probability
            assert float(found[f"{query.term}_mcse"].sel(where)) == query.mcse
        if query.moments is not None:
            assert float(found[f"{query.term}_mean"].sel(where)) == query.mean
            assert float(found[f"{query.term}_sd_mcse"].sel(where)) == query.sd_mcse
    assert (
        float(found["colour"].sel(P="anna", colour_value="red")) == result["colour(anna)"].distribution["red"]
    )
    assert np.isnan(found["both"].sel(x="bob", y="bob"))
    assert found.attrs["method"] == result.method


def test_slots_of_one_name_and_other_coordinates_stay_apart(result: Result) -> None:
    dims = result.to_xarray()["size"].dims
    assert dims == ("size_x", "size_value")


def test_a_tree_has_the_groups_and_dimensions_that_arviz_reads(result: Result) -> None:
    tree = result.to_arviz()
    assert set(tree.children) == {"posterior", "sample_stats", "observed_data"}
    posterior = tree["posterior"]
    for name in posterior.data_vars:
        assert posterior[name].dims[:2] == ("chain", "draw")
        assert np.issubdtype(posterior[name].dtype, np.number)
    assert posterior["level"].dims == ("chain", "draw", "chain_")
    assert tree["sample_stats"]["lp"].dims == ("chain", "draw")
    assert posterior.sizes["chain"] == 64 and posterior.sizes["draw"] == 60
    assert posterior["chain"].values.tolist() == list(range(64))


def test_draws_are_those_of_the_answers(result: Result) -> None:
    posterior = result.to_arviz()["posterior"]
    assert (posterior["smokes"].sel(x="anna").values == result["smokes(anna)"].draws).all()
    assert (posterior["level"].sel(chain_="bob").values == result["level(bob)"].draws).all()
    assert (posterior["half"].sel(P="bob").values == result["half(bob)"].draws).all()
    colour = posterior["colour"]
    symbols = np.array(colour.attrs["values"], dtype=object)
    assert (symbols[colour.sel(P="bob").values] == result["colour(bob)"].draws).all()
    assert set(symbols[colour.sel(P="cleo").values].ravel()) == {"green"}
    assert np.isnan(posterior["both"].sel(x="bob", y="bob")).all()
    pair = result["(smokes(anna), colour(anna))"].draws
    assert (posterior["(smokes(anna), colour(anna))[1]"].values == pair[..., 0].astype(int)).all()
    assert (posterior["n"].values == result["n"].draws).all()
    assert posterior["smokes given smokes(cleo)"].sizes == {
        "chain": 64,
        "draw": 60,
        "smokes given smokes(cleo)_x": 1,
    }


def test_what_is_observed_is_there_and_the_rest_is_not(result: Result) -> None:
    observed = result.to_arviz()["observed_data"]
    assert float(observed["smokes"].sel(x="bob")) == 1.0
    assert observed["x"].values.tolist() == ["bob"]
    assert observed["colour"].sel(P="cleo").item() == "green"
    assert float(observed["level"].sel(chain_="anna")) == 2.0


def test_a_tree_is_kept_in_a_file_where_xarray_can(result: Result, tmp_path: Path) -> None:
    pytest.importorskip("h5netcdf")
    result.to_arviz().to_netcdf(tmp_path / "draws.nc", engine="h5netcdf")
    again = xarray.open_datatree(tmp_path / "draws.nc", engine="h5netcdf")
    assert (again["posterior"]["smokes"].values == result.to_arviz()["posterior"]["smokes"].values).all()


def test_arviz_summarises_a_tree(result: Result) -> None:
    arviz = pytest.importorskip("arviz")
    tree = result.to_arviz()
    data = arviz.from_datatree(tree) if hasattr(arviz, "from_datatree") else tree
    means = arviz.summary(data, var_names=["smokes"])["mean"]
    assert float(means.iloc[0]) == pytest.approx(result["smokes(anna)"].draws.mean(), abs=0.01)


def test_without_draws_there_is_no_tree() -> None:
    with pytest.raises(plx.CallError, match=r"model.run\(draws=1000\)"):
        plx.run("random a\nquery a").to_arviz()


def test_without_xarray_it_says_how_to_install_it(result: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xarray", None)
    for call in (result.to_xarray, result.to_arviz):
        with pytest.raises(ImportError, match=r"pip install 'plx\[xarray\]'"):
            call()


def test_a_formula_with_a_slash_has_a_name_too() -> None:
    result = plx.run("random n: 0..2\nquery n / 2 > 0.5", seed=1, draws=3)
    assert list(result.to_arviz()["posterior"].data_vars) == ["n ∕ 2 > 0.5"]
