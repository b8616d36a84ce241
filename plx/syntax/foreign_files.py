"""Files of other tools that are no programs: known by their suffix, or by how they begin."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Final

from plx.errors import Diagnostic, PlxError

_READS = (
    "plx reads programs (.plx), networks in .uai, .bif, .fg and .json (of Anand et al.), .xmlbif, .net, "
    ".cnf, .wcnf and .mln"
)
_SAVE = "save it as .bif or .uai"
_PLX = "write it as a program of plx"
_DATA = 'a program reads it: `relation r(T, T) from "{file}"`; or give it, `--bind r={file}`'
_LOGIC = f"{_PLX}: a fact `0.3::a` is `random a` with `weight logit(0.3): a`"
_CLAUSES = "give its file the suffix .cnf, or .wcnf for MaxSAT"
_EVIDENCE = "it is evidence on a .mln: `plx run model.mln --evidence {file}`"

SUFFIXES: Final = {
    ".db": ("a database, as Alchemy reads evidence from", _EVIDENCE),
    ".pl": ("a program of Prolog or ProbLog", _LOGIC),
    ".problog": ("a program of ProbLog", _LOGIC),
    ".xdsl": ("a network of GeNIe", _SAVE),
    ".dsl": ("a network of SMILE", _SAVE),
    ".stan": ("a program of Stan", f"{_PLX}; its unknowns are discrete"),
    ".wppl": ("a program of WebPPL", _PLX),
    ".blog": ("a program of BLOG", _PLX),
    ".praise": ("a model of aic-praise", _PLX),
    ".wfomcs": ("a sentence of WFOMC", _PLX),
    ".csv": ("a table of data", _DATA),
    ".tsv": ("a table of data", _DATA),
    ".parquet": ("a table of data", _DATA),
    ".feather": ("a table of data", _DATA),
    ".arrow": ("a table of data", _DATA),
    ".jsonl": ("a table of data", _DATA),
    ".ndjson": ("a table of data", _DATA),
    ".sqlite": ("a database", _DATA),
    ".sqlite3": ("a database", _DATA),
    ".duckdb": ("a database", _DATA),
    ".py": ("a program of Python", "run it with python; it may `import plx`"),
    ".ipynb": ("a notebook of Jupyter", "open it there; it may `import plx`"),
}
"""Suffix → what such a file is, and what to do with it."""

_BEGINNINGS: Final = (
    (re.compile(r"(c\b.*\n)*p\s+w?cnf\s+\d"), "a formula in DIMACS", _CLAUSES),
    (
        re.compile(r"<(\?xml|!DOCTYPE|!--|bif\b)", re.IGNORECASE),
        "XML, perhaps a network in XMLBIF",
        "XMLBIF has the suffix .xmlbif",
    ),
    (re.compile(r"(MARKOV|BAYES)\s+\d"), "a network in UAI's form", "give its file the suffix .uai"),
    (re.compile(r"network\s+[^\n{]*\{"), "a network in BIF", "give its file the suffix .bif"),
    (re.compile(r"net\s*\{"), "a network of Hugin", "give its file the suffix .net"),
    (re.compile(r"\{\s*\"cells\""), *SUFFIXES[".ipynb"]),
    (re.compile(r"[{\[]\s*[\"{\[]"), "JSON", "a model of Anand et al. has the suffix .json"),
    (re.compile(r"PK\x03\x04|%PDF|\x89PNG|\x1f\x8b"), "a binary file", "programs are UTF-8 text"),
)
"""How files begin that cannot be programs, what they are, and what to do."""


def refuse_suffix(file: str) -> None:
    """Raises PlxError for a file that its suffix tells to be of another tool."""
    found = SUFFIXES.get(PurePath(file).suffix.lower())
    if found is not None:
        raise _refusal(file, *found)


def refuse_content(file: str, content: bytes) -> None:
    """Raises PlxError for a file that begins as those of another tool do."""
    head = content[:2000].removeprefix(b"\xef\xbb\xbf").decode("latin-1").lstrip()
    for beginning, what, hint in _BEGINNINGS:
        if beginning.match(head):
            raise _refusal(file, what, hint)


def _refusal(file: str, what: str, hint: str) -> PlxError:
    told = hint.format(file=PurePath(file).name)
    return PlxError(Diagnostic(f"{file} is {what}, no program of plx", hint=f"{told}. {_READS}"))
