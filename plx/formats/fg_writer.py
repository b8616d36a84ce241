"""A ground model → a factor graph of libDAI (.fg)."""

from __future__ import annotations

from plx.formats.uai_writer import UaiText, scaled_tables
from plx.graph.model import GroundModel


def write_fg(model: GroundModel) -> UaiText:
    """The free variables and factors of a model, scaled as `write_uai` does.

    Raises PlxError as `write_uai`.
    """
    graph = model.graph
    factors, log_scale = [], model.log_constant
    left = set(range(graph.n_variables))  # the file knows a variable by the factors over it
    for variables, top, entries in scaled_tables(model):
        log_scale += top
        left -= set(variables)
        factors.append(_factor(variables, [int(graph.card[v]) for v in variables], entries))
    factors += [_factor([v], [int(graph.card[v])], ["1"] * int(graph.card[v])) for v in sorted(left)]
    return UaiText("\n".join([str(len(factors)), *factors]) + "\n", log_scale)


def _factor(variables: list[int], cards: list[int], entries: list[str]) -> str:
    """A block: the first variable fastest, which is C order with the scope reversed; zeros left out."""
    kept = [f"{place} {entry}" for place, entry in enumerate(entries) if entry != "0"]
    scope, sizes = (" ".join(map(str, reversed(items))) for items in (variables, cards))
    return "\n".join(["", str(len(variables)), scope, sizes, str(len(kept)), *kept])
