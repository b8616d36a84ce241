"""Other tools on the same models, in the same run, each in the first interpreter that has it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.benchmarks.ceiling import ByHand
from tests.benchmarks.kernel_models import Plain, grid, kernel_models, plain_grid
from tests.benchmarks.kernels import LANES, updates
from tests.benchmarks.table import Settings, Spread, Table, number, rate, ratio

SCRIPT = Path(__file__).with_name("rival_runs.py")
FAST, SLOW = ("numbskull", "dwave-samplers"), ("pyAgrum", "pgmpy")

Found = Spread | str
"""A speed, or why there is none."""


def measure(settings: Settings) -> list[Table]:
    """plx beside hand-written kernels, and beside other tools."""
    return [_ceilings(settings), _fast(settings), _slow(settings)]


def _ceilings(settings: Settings) -> Table:
    rows: list[tuple[object, ...]] = []
    for one in kernel_models(settings.quick):
        ours, best = updates(one.make(), settings), speed(one.by_hand(LANES), settings)
        rows.append((one.name, ours, best, ratio(ours, best)))
    return Table(
        f"Updates per second beside a kernel written by hand for the one model, {LANES} lanes",
        ("model", "plx", "by hand", "plx ÷ by hand"),
        rows,
    )


def speed(chains: ByHand, settings: Settings) -> Spread:
    """Updates per second of chains by hand."""
    return rate(chains.sweep, chains.unknowns * chains.lanes, settings)


def _fast(settings: Settings) -> Table:
    rows: list[tuple[object, ...]] = []
    notes: dict[str, str] = {}
    for one in kernel_models(settings.quick):
        found = _others(FAST, one.plain() if one.plain else None, settings, notes)
        ours = updates(one.make(), settings)
        cells = [cell for other in found for cell in (other, _gain(ours, other))]
        rows.append((one.name, ours, *cells))
    columns = ("model", "plx", *(cell for tool in FAST for cell in (tool, f"plx ÷ {tool}")))
    return Table("Updates per second beside other tools, one thread", columns, rows, tuple(notes.values()))


def _slow(settings: Settings) -> Table:
    rows: list[tuple[object, ...]] = []
    notes: dict[str, str] = {}
    for tool, side in zip(SLOW, (10, 3), strict=True):
        (found,) = _others((tool,), plain_grid(side, 2), settings, notes)
        ours = updates(grid(side, 2), settings)
        rows.append((tool, f"Ising grid {side}×{side}", ours, found, _gain(ours, found)))
    return Table(
        "Tools that larger models are out of reach for",
        ("tool", "model", "plx", "tool's updates/s", "plx ÷ tool"),
        rows,
        tuple(notes.values()),
    )


def _gain(ours: Spread, other: Found) -> str | None:
    return f"{number(ours.median / other.median)}×" if isinstance(other, Spread) else None


def _others(
    tools: tuple[str, ...], plain: Plain | None, settings: Settings, notes: dict[str, str]
) -> list[Found]:
    """What each tool makes of a model; adds the versions to the notes."""
    if plain is None:
        return ["has no count factors"] * len(tools)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        path.write_text(json.dumps(plain))
        answers = [_run(tool, path, settings) for tool in tools]
    for answer in answers:
        if answer["version"]:
            notes[answer["tool"]] = f"{answer['tool']} {answer['version']}."
    return [Spread(tuple(a["updates"])) if "updates" in a else a["why"] for a in answers]


def _run(tool: str, path: Path, settings: Settings) -> dict[str, Any]:
    answer = {"tool": tool, "version": None, "why": "not installed"}
    for python in (sys.executable, *settings.rivals):
        command = [python, str(SCRIPT), str(path), str(settings.seconds), str(settings.repeats), tool]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=120)
            answer = json.loads(done.stdout)
        except subprocess.TimeoutExpired:
            answer["why"] = "not done in 120 s"
        except (OSError, ValueError):
            answer["why"] = "fails to start"
        if answer.get("why") != "not installed":
            break
    return answer
