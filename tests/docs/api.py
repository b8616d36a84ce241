"""The API reference, written from the docstrings: ``python -m tests.docs.api`` writes docs/api.md anew."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import plx

PAGE = Path(__file__).resolve().parents[2] / "docs" / "api.md"

_HEAD = """# API reference

Every public name of `import plx`, from its docstring. [plx in Python](python.md) says how they are used
together. This page is written by `python -m tests.docs.api`.
"""

_ARGUMENT = re.compile(r"^    (\w+): ", re.MULTILINE)


def reference() -> str:
    """The whole page."""
    public = [(name, getattr(plx, name)) for name in plx.__all__]
    functions = [(name, f) for name, f in public if inspect.isfunction(f)]
    errors = [(name, c) for name, c in public if inspect.isclass(c) and issubclass(c, BaseException)]
    classes = [(name, c) for name, c in public if inspect.isclass(c) and (name, c) not in errors]
    anchors = _anchors([name for group in (functions, classes, errors) for name, _ in group])
    parts = [
        "## Functions\n",
        *(_function(name, f, "plx.") for name, f in functions),
        "## Classes\n",
        *(_class(name, c) for name, c in classes),
        "## Exceptions\n",
        *(_class(name, c) for name, c in errors),
    ]
    overview = _overview([*functions, *classes, *errors], anchors)
    return "\n".join([_HEAD, overview, *(_linked(part, anchors) for part in parts)])


def _anchors(names: list[str]) -> dict[str, str]:
    """What the headings are called in links, as GitHub does: the second of two alike has a number."""
    anchors: dict[str, str] = {}
    for name in names:
        plain = f"plx{name.lower()}"
        anchors[name] = f"{plain}-1" if plain in anchors.values() else plain
    return anchors


def _overview(public: list[tuple[str, object]], anchors: dict[str, str]) -> str:
    """A table of all names, each with the first sentence of its docstring."""
    rows = (f"| [`plx.{name}`](#{anchors[name]}) | {_summary(found)} |\n" for name, found in public)
    return f"| name | what it is |\n| --- | --- |\n{''.join(rows)}"


def _summary(found: object) -> str:
    text = " ".join(_prose(found).split("\n\n")[0].split())
    return re.split(r"(?<=\w[.:;]) ", text)[0].rstrip(".:;").replace("|", "\\|")


def _linked(section: str, anchors: dict[str, str]) -> str:
    """The section with a link from each public name in its prose to what is said of it."""

    def link(found: re.Match[str]) -> str:
        owner, _, method = found[1].partition(".")
        if not method:
            return f"[{found[0]}](#{anchors[owner]})"
        is_method = inspect.isfunction(getattr(getattr(plx, owner), method, None))
        return f"[{found[0]}](#{(owner + method).lower()})" if is_method else found[0]

    parts = re.split(r"(^```.*?^```$|^#[^\n]*$)", section, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith(("```", "#")) else _NAME.sub(link, part) for part in parts)


_PUBLIC = "|".join(plx.__all__)
_NAME = re.compile(rf"`(?:plx\.)?((?:(?<=plx\.)|(?=[A-Z]))(?:{_PUBLIC})(?:\.\w+)?)`")
"""A class, or a function behind `plx.`: alone, `run` is a method of the class that is spoken of."""


def _function(name: str, function: object, owner: str = "", level: str = "###") -> str:
    return f"{level} `{owner}{name}`\n\n```py\n{_call(name, function)}\n```\n\n{_prose(function)}\n"


def _call(name: str, function: object) -> str:
    """The call with its parameters, one to a line where they do not fit on one."""
    signature = inspect.signature(function)  # type: ignore[arg-type]
    kept = [parameter for parameter in signature.parameters.values() if parameter.name != "self"]
    text = f"{name}{_plain(signature.replace(parameters=kept))}"
    if len(text) <= 110:
        return text
    inner, ending = re.fullmatch(r"\w+\((.*)\)( ->.*)?", text).groups("")  # type: ignore[union-attr]
    parts = re.split(r", (?![^\[]*\])", inner)
    return f"{name}(\n" + "".join(f"    {part},\n" for part in parts) + f"){ending}"


def _plain(signature: inspect.Signature) -> str:
    """The signature without the quotes that stand around annotations."""
    bare = [p.replace(annotation=_Bare(p.annotation)) for p in signature.parameters.values()]
    result = signature.return_annotation
    return str(signature.replace(parameters=bare, return_annotation=_Bare(result))).replace(" -> None", "")


class _Bare:
    """An annotation that is shown as it is written."""

    def __init__(self, text: object) -> None:
        self.text = text if isinstance(text, str) else getattr(text, "__name__", str(text))

    def __repr__(self) -> str:
        return self.text


def _class(name: str, cls: type) -> str:
    parts = [f"### `plx.{name}`\n\n{_prose(cls)}\n"]
    if dataclasses.is_dataclass(cls):
        fields = [f for f in dataclasses.fields(cls) if not f.name.startswith("_")]
        parts.append("".join(f"- `{f.name}: {f.type}`\n" for f in fields))
    values = [(n, v) for n, v in members(cls) if not inspect.isfunction(v)]
    parts.append("".join(f"- `{n}{_type(v)}`: {_sentence(v)}\n" for n, v in values))
    parts += [_function(n, v, f"{name}.", "####") for n, v in members(cls) if inspect.isfunction(v)]
    return "\n".join(part for part in parts if part)


def members(cls: type) -> Iterator[tuple[str, object]]:
    """The public methods and properties that plx gives a class, in the order of the source."""
    for owner in cls.__mro__:
        if owner.__module__.startswith("plx."):
            for name, value in vars(owner).items():
                if not name.startswith("_") and isinstance(value, _Method):
                    yield name, value


_Method = (property, cached_property, type(reference))


def _getter(value: object) -> object:
    return value.fget if isinstance(value, property) else value.func  # type: ignore[attr-defined]


def _type(value: object) -> str:
    annotation = inspect.signature(_getter(value)).return_annotation  # type: ignore[arg-type]
    return f": {annotation}"


def _sentence(value: object) -> str:
    return " ".join(_prose(value).split())


def _prose(of: object) -> str:
    """The docstring as Markdown."""
    text = inspect.getdoc(of) or ""
    assert text, f"{of} has no docstring"
    text = text.replace("``", "`").replace("Args:\n", "\n").replace("Raises:\n", "Raises:\n\n")
    text = _ARGUMENT.sub(r"- `\1`: ", text)
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"\n {4,}", " ", text))


if __name__ == "__main__":
    PAGE.write_text(reference(), encoding="utf-8")
