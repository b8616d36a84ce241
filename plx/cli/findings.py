"""What was found in programs, printed for people or for other tools."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from plx.cli.output import TextOrJson, complain, json_text, put
from plx.errors import Diagnostic


@dataclass(frozen=True)
class Findings:
    """What was found in a file; ``failed`` if it ends the command with exit code 1."""

    file: str
    diagnostics: Sequence[Diagnostic]
    failed: bool


def report(found: Iterable[Findings], form: TextOrJson, clean: str) -> bool:
    """Print what was found, text file by file as it comes; whether a file has failed.

    ``clean`` is said of each file that has not.
    """
    if form is TextOrJson.json:
        listed = list(found)
        files = [
            {"file": one.file, "ok": not one.failed, "diagnostics": [d.to_dict() for d in one.diagnostics]}
            for one in listed
        ]
        put(json_text({"files": files}) + "\n")
        return any(one.failed for one in listed)
    failed = False
    for one in found:
        complain(*one.diagnostics)
        failed = failed or one.failed
        if not one.failed:
            put(f"{one.file}: {clean}\n")
    return failed
