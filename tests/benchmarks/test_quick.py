"""The benchmarks run. What they measure is written by ``python -m tests.benchmarks``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from plx.infer.compare.curves import Curve
from tests.benchmarks.__main__ import DOCS, SECTIONS
from tests.benchmarks.page import write
from tests.benchmarks.published import reached
from tests.benchmarks.startup import import_times
from tests.benchmarks.table import QUICK, Spread, Table, number


@pytest.mark.parametrize("name", SECTIONS)
def test_a_section_runs(name: str) -> None:
    tables = SECTIONS[name](QUICK)
    assert tables
    for table in tables:
        assert table.rows and all(len(row) == len(table.columns) for row in table.rows)
        assert "nan" not in table.markdown()


def test_the_page_has_a_place_for_every_section() -> None:
    document = (DOCS / "performance.md").read_text(encoding="utf-8")
    for name in SECTIONS:
        assert document.count(f"<!-- {name} -->") == document.count(f"<!-- end {name} -->") == 1


def test_tables_are_written_between_markers(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text("before\n<!-- a -->\nold\n<!-- end a -->\nafter\n")
    write(path, "a", r"new \1")
    assert path.read_text() == "before\n<!-- a -->\nnew \\1\n<!-- end a -->\nafter\n"
    with pytest.raises(ValueError, match="no place for b"):
        write(path, "b", "new")


def test_numbers_and_spreads() -> None:
    assert [number(x) for x in (0, 0.5, 1234.5, 1.5e8, 2e-7)] == ["0", "0.5", "1234", "1.50e8", "2.00e-7"]
    assert str(Spread((90.0, 100.0, 120.0))) == "100 ± 15%"
    table = Table("t", ("a", "b"), [("x", 1.0), ("y", None)], ("note",))
    assert table.markdown() == "**t**\n\n| a | b |\n| --- | ---: |\n| x | 1 |\n| y | – |\n\nnote"


def test_when_a_curve_reaches_a_value() -> None:
    seconds, kl = np.array([1.0, 10.0, 100.0]), np.array([[1.0, 0.1, 0.01]])
    curve = Curve("gibbs", seconds, kl, seconds, 0.0)
    assert reached(curve, 2.0) == 1.0
    assert reached(curve, 0.1) == pytest.approx(10)
    assert reached(curve, 10**-1.5) == pytest.approx(10**1.5)
    assert reached(curve, 1e-3) is None


def test_import_times_by_package() -> None:
    report = (
        "import time: self [us] | cumulative | imported package\n"
        "import time:       100 |        100 |   numpy.core\nimport time:        20 |        120 | numpy\n"
        "import time:         5 |          5 | json\nexamples/smokers.plx: fine\n"
    )
    assert import_times(report) == {"numpy": 120, "standard library": 5}
