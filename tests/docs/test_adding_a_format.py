"""The reader of docs/adding-a-format.md conforms as those of plx do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import plx
from plx.formats.network import Network
from plx.formats.reader import READERS
from plx.source import Source
from plx.values import Values
from tests.docs.pages import entry, load, page, save
from tests.formats.reading import mistake
from tests.formats.reading import save as write
from tests.fuzz.inputs import Inputs, network
from tests.fuzz.mutate import NUMBERS, TOKEN
from tests.fuzz.trial import case, fault, memory_bounded

PAGE = page("adding-a-format.md")
TIES = "# who votes with whom\nanna bob 2.5\nbob cleo 4\ncleo anna 1e-2\n"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(PAGE, tmp_path_factory.mktemp("format") / "ties.py")


@pytest.fixture
def read_ties(file: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Source, Values], Network]:
    """The reader, entered as the page says."""
    read: Callable[[Source, Values], Network] = load(file).read_ties
    for suffix, reader in eval(entry(PAGE), {"read_ties": read}).items():
        monkeypatch.setitem(READERS, suffix, reader)
    return read


@pytest.mark.usefixtures("read_ties")
def test_a_file_is_what_it_says(tmp_path: Path) -> None:
    file = write(tmp_path, "a.ties", TIES)
    weight = {
        (a, b, c): (2.5 if a == b else 1) * (4 if b == c else 1) * (0.01 if c == a else 1)
        for a in (0, 1) for b in (0, 1) for c in (0, 1)
    }  # fmt: skip
    result = plx.load(file, anna="true").run()
    seen = sum(weight[1, b, c] for b in (0, 1) for c in (0, 1))
    assert result["bob"].probability == pytest.approx((weight[1, 1, 0] + weight[1, 1, 1]) / seen)
    assert result["cleo"].probability == pytest.approx((weight[1, 0, 1] + weight[1, 1, 1]) / seen)


@pytest.mark.usefixtures("read_ties")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a b 2\nb b 3", "a.ties:2:3: error: `b` is tied to itself"),
        ("a b 2\nb", "the file ends before the two names of a tie (2 expected, 1 found)"),
        ("a b", "the file ends before the weight of the tie of a and b"),
        ("a b -1", "the entry `-1` is negative"),
        ("a b 0\na b x", "a.ties:2:5"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, said: str) -> None:
    assert said in mistake(write(tmp_path, "a.ties", text))


@pytest.mark.usefixtures("read_ties")
def test_damaged_files_are_read_or_refused_in_words(tmp_path: Path) -> None:
    pool = (*sorted(set(TOKEN.findall(TIES))), "#", *NUMBERS)
    inputs = Inputs((TIES,), pool, network(".ties"))
    with memory_bounded():
        for number in range(300):
            content = case(inputs, f"ties {number}")
            assert fault(inputs, content, tmp_path) is None, content
