"""The sampler of docs/adding-a-sampler.md conforms as those of plx do."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from plx.infer.mcmc.samplers import SAMPLERS, Sampler, late
from tests.docs.blocks import blocks
from tests.docs.pages import load, page, save
from tests.infer.mcmc import test_samplers as conformance

PAGE = page("adding-a-sampler.md")
NAME = "metropolis"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(PAGE, tmp_path_factory.mktemp("sampler") / f"{NAME}.py")


@pytest.fixture
def entered(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = load(file)
    monkeypatch.setitem(SAMPLERS, NAME, Sampler(module.init, module.step, "of the page"))


@pytest.mark.usefixtures("entered")
@pytest.mark.parametrize(
    "check",
    [
        conformance.test_many_states_need_wide_storage,
        conformance.test_extreme_weights_give_certainty,
        conformance.test_a_seed_repeats_and_threads_do_not_matter,
        conformance.test_draws_may_be_asked_for_in_any_portions,
    ],
    ids=lambda check: check.__name__,
)
def test_it_conforms(check: object) -> None:
    assert callable(check)
    check(NAME)


@pytest.mark.usefixtures("entered")
def test_it_agrees_with_enumeration() -> None:
    conformance.agree_with_enumeration(NAME, models=3)


def test_the_entry_that_the_page_shows_is_a_sampler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, f"plx.infer.mcmc.{NAME}", sys.modules[NAME])
    function, entry = (block.text for block in blocks(PAGE) if block.tag == "text")
    names: dict[str, object] = {"late": late}
    exec("from __future__ import annotations\n" + function, names)
    table = eval("{" + entry + "}", names)
    assert list(table) == [NAME]
    monkeypatch.setitem(SAMPLERS, NAME, table[NAME])
    conformance.test_draws_may_be_asked_for_in_any_portions(NAME)
    conformance.test_extreme_weights_give_certainty(NAME)
