"""The sampler of docs/adding-a-sampler.md conforms as those of plx do, and mypy and ruff pass it."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from plx.infer.mcmc.samplers import SAMPLERS, Sampler, late
from tests.docs.blocks import blocks
from tests.infer.mcmc import test_samplers as conformance

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "adding-a-sampler.md").read_text(encoding="utf-8")
NAME = "metropolis"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page's first block of Python, as the file that it says it is."""
    path = tmp_path_factory.mktemp("sampler") / f"{NAME}.py"
    path.write_text(next(block.text for block in blocks(PAGE) if block.tag == "python"), encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def entered(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location(NAME, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, NAME, module)
    spec.loader.exec_module(module)
    monkeypatch.setitem(SAMPLERS, NAME, Sampler(module.init, module.step, "of the page"))


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


def test_it_agrees_with_enumeration() -> None:
    conformance.agree_with_enumeration(NAME, models=3)


@pytest.mark.parametrize(
    "command",
    [["mypy", "--strict"], ["ruff", "check"], ["ruff", "format", "--check"]],
    ids=" ".join,
)
def test_it_is_as_tidy_as_plx(command: list[str], file: Path) -> None:
    config = ["--config=pyproject.toml"] if command[0] == "ruff" else []
    done = subprocess.run(
        [sys.executable, "-m", *command, *config, str(file)], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


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
