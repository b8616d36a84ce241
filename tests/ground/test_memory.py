"""The budget of memory: how it is written, and what is refused for it before the work."""

from __future__ import annotations

from pathlib import Path

import pytest

import plx
from plx.cli import main
from plx.ground.memory import allowed, size_of, within

PAIRS = """type P = 1..300
random near(P, P)
random far(P)
weight 0.1: near(x, y) => near(y, x) for x, y in P
weight 0.2: far(x) for x in P
query far(1)
"""


@pytest.mark.parametrize(
    ("text", "size"),
    [("8GB", 8 * 10**9), ("1.5 tb", 15 * 10**11), ("500MB", 5 * 10**8), ("8GiB", 1 << 33), ("9", 9), (7, 7)],
)
def test_sizes(text: int | str, size: int) -> None:
    assert size_of(text) == size


@pytest.mark.parametrize("text", ["", "8 apples", "GB", "-1GB", "0MB", "0", 0, -5, True, 1.5])
def test_what_is_no_size_is_refused(text: int | str) -> None:
    with pytest.raises(plx.CallError, match="is a size such as 8GB"):
        plx.run(PAIRS, memory=text, method="gibbs", samples=100, seed=1)


def test_a_grounding_that_needs_more_is_refused_before_the_work() -> None:
    model = plx.compile(PAIRS)
    with pytest.raises(plx.PlxError) as caught:
        model.run(memory="2MB", method="gibbs", samples=100, seed=1)
    text = str(caught.value)
    assert "program:4" in text and "program:5" not in text  # the rule that is large, not the other
    assert "90,000 ground instances" in text and "the limit is 2.0 MB" in text and "--memory 0.1GB" in text
    model.run(memory="100MB", method="gibbs", samples=100, seed=1)


def test_the_budget_ends_with_its_block() -> None:
    with within("8GB"):
        assert allowed().bytes == 8 * 10**9 and allowed().given
        with within(None):
            assert allowed().given
    assert not allowed().given and allowed().bytes >= 1 << 30


@pytest.mark.parametrize("command", [["ground", "--dump"], ["run", "--method", "gibbs", "--samples", "100"]])
def test_the_command_line_has_it(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "pairs.plx"
    file.write_text(PAIRS)
    monkeypatch.setattr("sys.argv", ["plx", command[0], str(file), *command[1:], "--memory", "1MB"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert "the limit is 1.0 MB" in capsys.readouterr().err
