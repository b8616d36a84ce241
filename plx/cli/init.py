"""``plx init``: a small working project to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from plx.cli.output import put
from plx.saving import save

FILES: Final = {
    "friends.plx": """# Who smokes? Friends tend to be alike, and some people were asked.
type Person from "people.csv"
relation friends(x: Person, y: Person) from "friends.csv"

random smokes(x: Person)

weight 1.2: smokes(x) <=> smokes(y) for (x, y) in friends
weight -0.5: smokes(x)              for x in Person

observe smokes from "asked.csv"
query smokes(x) for x in Person
""",
    "people.csv": "Person\nanna\nbob\ncleo\ndan\neve\n",
    "friends.csv": "x,y\nanna,bob\nbob,cleo\ncleo,dan\nanna,eve\n",
    "asked.csv": "x,value\nbob,true\ndan,false\n",
    "README.md": """# {name}

`friends.plx` says who may smoke, and how that hangs together; the tables beside it hold people, who is whose
friend, and who was asked.

    plx run friends.plx             the answers
    plx run friends.plx --watch     again whenever a file changes
    plx check friends.plx           mistakes, as one writes
    plx lint friends.plx            what looks odd

A `weight` is the log of the odds that a world gains where its formula holds: 0 says nothing, and 1.2 makes
friends who are alike exp(1.2) = 3.3 times as likely as friends who are not. In Python:

    import plx
    result = plx.load("friends.plx").run()
    print(result["smokes(anna)"].probability)
""",
}
"""What a new project holds."""


def init(
    folder: Annotated[Path, typer.Argument(metavar="NAME", help="The folder to make; . for this one.")],
) -> None:
    """Start a project: a program, its tables and a README, in a new folder.

    Example: `plx init friends`
    """
    if folder.exists() and not folder.is_dir():
        raise typer.BadParameter(f"{folder}: there is a file of this name")
    there = [name for name in FILES if (folder / name).exists()]
    if there:
        raise typer.BadParameter(f"{folder}: there is a `{there[0]}` already, and nothing is written over it")
    name = folder.resolve().name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in FILES.items():
            save(folder / file, text.replace("{name}", name).encode())
    except OSError as error:
        raise typer.BadParameter(f"{folder}: {(error.strerror or str(error)).lower()}") from None
    put("".join(f"wrote {folder / file}\n" for file in FILES))
    put(f"next: plx run {folder / 'friends.plx'}\n")
