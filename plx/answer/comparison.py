"""A comparison of methods as a table, as data and as a plot."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from plx.answer.drawing import require_plot, save_plot
from plx.errors import Diagnostic, PlxError
from plx.infer.compare.curves import Comparison
from plx.values import FloatArray

if TYPE_CHECKING:
    from rich.table import Table


def read_truth(path: Path) -> list[FloatArray]:
    """True marginals from JSON: a list of one distribution per unknown, or an object that holds such a
    list as ``marginals`` or ``exact_marginals``. Raises PlxError where it is none."""
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError:
        raise PlxError(Diagnostic(f"there is no truth `{path}`", hint="exact, long or a JSON file")) from None
    except (ValueError, RecursionError) as error:
        raise PlxError(Diagnostic(f"{path} is no JSON: {error}")) from None
    if isinstance(content, dict):
        content = content.get("marginals", content.get("exact_marginals"))
    try:
        return [np.array(p, dtype=np.float64) for p in content]
    except (TypeError, ValueError):
        message = f"{path} holds no list of marginals"
        raise PlxError(Diagnostic(message, hint='write {"marginals": [[0.2, 0.8], …]}')) from None


def table(comparison: Comparison) -> Table:
    """The rows of a comparison as a Rich table."""
    from rich import box
    from rich.table import Table

    out = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for at, heading in enumerate(comparison.headings):
        out.add_column(heading, justify="right" if at else "left")
    for row in comparison.rows:
        out.add_row(*row)
    return out


def to_dict(comparison: Comparison) -> dict[str, Any]:
    """The comparison as plain lists and dicts."""
    return {
        "program": comparison.program,
        "truth": comparison.truth,
        "chains": comparison.chains,
        "lanes": comparison.lanes,
        "seed": comparison.seed,
        "protocol": comparison.protocol,
        "notes": list(comparison.notes),
        "curves": [
            {
                "method": curve.method,
                "seconds": curve.seconds.tolist(),
                "kl": curve.mean.tolist(),
                "spread": curve.spread.tolist(),
                "samples": curve.samples.tolist(),
                "symmetry_seconds": curve.symmetry_seconds,
                "notes": list(curve.notes),
            }
            for curve in comparison.curves
        ],
    }


def to_json(comparison: Comparison) -> str:
    """The comparison as JSON text."""
    return json.dumps(to_dict(comparison), indent=2, ensure_ascii=False)


def to_csv(comparison: Comparison) -> str:
    """The comparison as CSV text, one row per method and mark."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["method", "seconds", "kl", "spread", "samples"])
    for curve in comparison.curves:
        for row in zip(curve.seconds, curve.mean, curve.spread, curve.samples, strict=True):
            writer.writerow([curve.method, *(f"{float(x):.9g}" for x in row)])
    return out.getvalue()


_MARKERS = "osD^v<>"


def plot(comparison: Comparison, path: Path) -> None:
    """Draw KL divergence over seconds on two log axes; the suffix of the path is the format.

    Raises PlxError as `require_plot` does, and where the file cannot be written.
    """
    require_plot(path)
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.2, 3.6), layout="constrained")
    axes = figure.subplots()
    for i, curve in enumerate(comparison.curves):
        marker = _MARKERS[i % len(_MARKERS)]
        shown = np.maximum(curve.mean, 1e-300)
        (line,) = axes.loglog(
            curve.seconds, shown, label=curve.method, marker=marker, markevery=4, markersize=4, linewidth=1.2
        )
        low = np.maximum(shown - curve.spread, shown / 10)
        axes.fill_between(curve.seconds, low, shown + curve.spread, color=line.get_color(), alpha=0.15, lw=0)
    axes.set(xlabel="seconds, finding symmetries included", ylabel="mean KL divergence of marginals (nats)")
    axes.set_title(comparison.program, fontsize=9)
    axes.grid(which="major", linewidth=0.3)
    axes.legend(frameon=False)
    save_plot(figure, path)
