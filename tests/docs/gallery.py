"""The gallery: each example with its idea, what it answers, a picture, and what to expect.

``python -m tests.docs.gallery`` writes docs/gallery.md and the figures in docs/figures/gallery anew, with
names of programs behind it only their figures. Ideas and expectations are those of a program's first comment.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import NamedTuple

import plx
from tests.docs.blocks import rewrite

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
PAGE, FIGURES = ROOT / "docs/gallery.md", ROOT / "docs/figures/gallery"


class Entry(NamedTuple):
    """A program, what is asked of it here, what the picture shows of it, and what that is in words.

    ``observed``: asked once more with this.
    """

    file: str
    asked: tuple[str, ...]
    drawn: tuple[str, ...]
    picture: str
    observed: str | None = None


CHAPTERS: dict[str, tuple[Entry, ...]] = {
    "Records, links and groups": (
        Entry(
            "entities/entities.plx",
            ("same(a, b) for (a, b) in candidate",),
            ("same(a, b) for (a, b) in candidate", "count(same(a, b) for (a, b) in candidate) as pairs"),
            "pairs of records, and how many pairs are of one person",
        ),
        Entry(
            "citations/citations.plx",
            ('topic("ml98")', 'topic("as96")', 'topic("rs91") given topic("ml98") = learning'),
            ("topic(p) for p in Paper",),
            "papers by topic",
        ),
        Entry(
            "links.plx",
            ("meet(bob, eva)", "meet(anna, eva)", "meet(anna, eva) given meet(anna, cleo)"),
            ("meet(x, z) for x, z in Person if x < z & (x, z) not in know",),
            "who may meet whom",
        ),
        Entry(
            "blocks/blocks.plx",
            ("group(x) = left as left for x in Member", "across"),
            ("group(x) = left as left for x in Member", "within", "across"),
            "members of the left group, and how often members of one group and of two talk",
        ),
    ),
    "Causes and evidence": (
        Entry(
            "water.plx",
            ("storm", "grid", "leak(z1)", "tanker", "logz"),
            ("leak(z) for z in Zone", "motion(p) for p in Pump", "grid"),
            "leaks by zone, pumps by how they run, and the grid",
        ),
        Entry(
            "diagnosis/diagnosis.plx",
            ("has(d) for d in Disease", "has(pneumonia) given has(flu)"),
            ("has(d) for d in Disease", "shows(s) for s in Symptom"),
            "diseases and symptoms of one patient",
        ),
        Entry(
            "pedigree/pedigree.plx",
            ("blood(baby)", "blood(ben)"),
            ("blood(x) for x in Person",),
            "people by blood group",
        ),
        Entry(
            "fusion/fusion.plx",
            ("(x = 6) & (y = 6) as in_the_middle", "broken(b) for b in Beacon"),
            ("x = i & y = j as place for j in Y, i in X", "broken(b) for b in Beacon"),
            "where the robot is, and which beacons are broken",
        ),
        Entry(
            "capture/capture.plx",
            ("count(lives(n) for n in Newt) as newts", "lives(n40)"),
            ("count(lives(n) for n in Newt) as newts", "ease"),
            "how many newts there are, and how easily they are caught",
        ),
    ),
    "Sequences, images and networks": (
        Entry(
            "hmm/hmm.plx",
            ("state(h) for h in {15, 19}", "count(state(h) = down for h in Hour) as hours_down", "logz"),
            ("state(h) for h in Hour", "count(state(h) = down for h in Hour) as hours_down"),
            "the state of the server by hour, and how many hours it was down",
        ),
        Entry(
            "crf/crf.plx",
            ("label(2, 2)", "label(3, 4)", "map label(l, p) for (l, p, _) in words if l in {2, 3}"),
            ("label(2, p) as second for p in Position", "label(3, p) as third for p in Position"),
            "labels of the words of the second and third line",
        ),
        Entry(
            "denoise/denoise.plx",
            ("black(6, 5)", "black(5, 9)", "count(black(r, c) != scanned(r, c) for r, c in Line) as flips"),
            ("scanned(r, c) for r, c in Line", "black(r, c) for r, c in Line"),
            "the scan, and how likely each pixel was black",
        ),
        Entry(
            "epidemic/epidemic.plx",
            ("source", "state(x, 5) = ill as ill for x in Person"),
            ("state(x, d) = ill as ill for x in Person, d in Day", "source"),
            "who is ill by day, and who brought it",
        ),
    ),
    "Puzzles and constraints": (
        Entry(
            "colouring.plx",
            ("colour(brazil) = colour(chile) as alike", "logz"),
            ("colour(a) = colour(b) as alike for a, b in Country if a < b",),
            "how often two countries have one colour",
            "colour(c) != grey for c in Country",
        ),
        Entry(
            "queens.plx",
            ("row(1) = 1 as corner", "row(4) = 4 as centre", "logz"),
            ("row(c) = r as queen for r, c in Line",),
            "how often a queen stands on each square",
        ),
        Entry(
            "sudoku.plx",
            ("cell(1, c) for c in {1, 2, 3}", "logz"),
            ("cell(r, 5) = d as fifth for r, d in Digit",),
            "the digits of the fifth column",
        ),
        Entry(
            "crossword/crossword.plx",
            ("word(across4)", "map word(s) for s in Slot"),
            tuple(
                f"word({slot}) as {slot}"
                for slot in ("across1", "across4", "across5", "down1", "down2", "down3")
            ),
            "words of each slot",
        ),
        Entry(
            "arguments.plx",
            ("label(close)", "label(close) given label(grant) = accepted"),
            ("label(a) for a in Argument",),
            "arguments by label",
        ),
    ),
    "Skills, orders and studies": (
        Entry(
            "ranking/ranking.plx",
            ("place(s) = 1 as first for s in Soup", "place(carrot) = 6"),
            ("place(s) for s in Soup",),
            "soups by place",
        ),
        Entry(
            "skill/skill.plx",
            ("skill(ada)", "skill(ada) > skill(p) as ada_better for p in Player if p != ada", "next"),
            ("skill(p) for p in Player",),
            "players by skill",
        ),
        Entry(
            "curriculum.plx",
            ("passed(s1, ai)", "broad(s) for s in {s2, s3}"),
            ("passed(s1, ai) as s1_in_ai", "count(broad(s) for s in Student) as graduates"),
            "what the first student passes in ai, and how many students are broad",
        ),
    ),
}

INTRODUCTION = """# Gallery

Programs of the kinds that people bring, all of them [examples](../examples). Each is short, has data of its
own and says what to expect. The answers are exact, and all were worked out a second time without plx. Run the
programs from the root of a clone.

"""


MORE = """
## More examples

- [smokers.plx](../examples/smokers.plx): friends and smokers, the best known Markov logic network.
- [flu.plx](../examples/flu/flu.plx): an illness on a network of contacts, fed from four CSV files.
- [potts.plx](../examples/potts.plx): a grid whose cells like to have the colour of their neighbours.
- [ring.plx](../examples/ring.plx): symmetries of unknowns and their values.
- [timetable.plx](../examples/timetable.plx): what must hold, and what would be nice.
- [embed.py](../examples/embed.py): a program inside Python.
"""


def entries() -> Iterator[Entry]:
    for chapter in CHAPTERS.values():
        yield from chapter


class Header(NamedTuple):
    """The first comment of a program: its kind, what it is about, and what to expect."""

    title: str
    question: str
    idea: str
    expected: str


def header(text: str) -> tuple[Header, str]:
    """The header, and the program below it."""
    comment, program = text.split("\n\n", 1)
    first, *rest = " ".join(line[1:].strip() or "\n" for line in comment.split("\n")).split("\n")
    *ideas, expected = (part.strip() for part in rest)
    title, separator, question = first.strip().partition(": ")
    if not separator:
        title, _, question = first.strip().partition("? ")
    question = question[:1].upper() + question[1:]
    return Header(title, question, " ".join(ideas), expected.removeprefix("What to expect: ")), program


def figure(entry: Entry) -> Path:
    return FIGURES / f"{Path(entry.file).stem}.svg"


def page() -> str:
    """The page; what commands print is left out."""
    return INTRODUCTION + "".join(_lines()) + MORE


def _lines() -> Iterator[str]:
    yield "| program | question |\n| --- | --- |\n"
    for entry in entries():
        told, _ = header((EXAMPLES / entry.file).read_text(encoding="utf-8"))
        yield f"| [{told.title}](#{anchor(told.title)}) | {told.question} |\n"
    for chapter, members in CHAPTERS.items():
        yield f"\n## {chapter}\n"
        for entry in members:
            yield _section(entry)


def anchor(title: str) -> str:
    return re.sub(r"[^a-z0-9-]", "", title.lower().replace(" ", "-"))


def _section(entry: Entry) -> str:
    path = EXAMPLES / entry.file
    told, program = header(path.read_text(encoding="utf-8"))
    asked = " ".join(f"--query {quoted(query)}" for query in entry.asked)
    commands = [f"$ plx run examples/{entry.file} {asked}"]
    if entry.observed:
        commands.append(f"{commands[0]} --observe {quoted(entry.observed)}")
    files = sorted(set(re.findall(r'from "([^"]+)"', program)))
    data = ", ".join(f"[{name}](../examples/{Path(entry.file).parent}/{name})" for name in files)
    newline = "\n"
    return f"""
### {told.title}

{_wrapped(f"{told.question} {told.idea}")}

```plx
# examples/{entry.file}
{program.strip()}
```

{f"Data: {data}." if files else "All of it stands in the program."}

```console
{newline.join(commands)}
```

![{told.title}: {entry.picture}]({figure(entry).relative_to(ROOT / "docs").as_posix()})

{_wrapped(f"**What to expect:** {told.expected}")}
"""


def _wrapped(text: str) -> str:
    """Lines of a paragraph, with names of files as code."""
    return textwrap.fill(re.sub(r"\b\w+\.csv\b", r"`\g<0>`", text), 140, break_on_hyphens=False)


def quoted(query: str) -> str:
    return f"'{query}'" if '"' in query else f'"{query}"'


def draw(entry: Entry) -> None:
    """Its picture, which names the program by its place in the repository."""
    with chdir(ROOT):
        plx.load(f"examples/{entry.file}").query(*entry.drawn).plot(figure(entry))


if __name__ == "__main__":
    FIGURES.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
    rewrite(PAGE)
    for entry in entries():
        if len(sys.argv) == 1 or figure(entry).stem in sys.argv[1:]:
            draw(entry)
