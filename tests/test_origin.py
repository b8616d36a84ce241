"""A model may be made of anything that assembles a factor graph."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

import plx
from plx.errors import Diagnostic, NoWorldError, PlxError
from plx.graph.model import GroundModel
from plx.model import Model
from plx.origin import Origin

COINS = "random a\nrandom b\nweight log(3): a\nrequire a => b\n"


@dataclass(frozen=True)
class Borrowed:
    """The factor graph of a program, without the program; ``found``: whether it has a world."""

    lender: Origin
    found: bool = True
    warnings: tuple[Diagnostic, ...] = ()
    contents: str = "a borrowed graph"
    text: str | None = None

    def assemble(self) -> GroundModel:
        if not self.found:
            raise NoWorldError(Diagnostic("nothing is left"))
        return self.lender.assemble()

    def hard(self) -> GroundModel:
        return self.lender.hard()

    def blamed(self, clash: NoWorldError) -> PlxError:
        return clash.reason_for("the lender is at fault")


def borrowed(text: str, found: bool = True) -> Model:
    return Model("borrowed", Borrowed(plx.compile(text).origin, found))


def test_it_answers_as_the_program_does() -> None:
    text = COINS + "query b\nquery b given !a\nquery map\nquery logz"
    model = borrowed(text)
    assert model.run() == plx.Result("borrowed", plx.run(text).queries, model.run().inference)
    assert repr(model) == "<Model borrowed: a borrowed graph>"
    model.require_world()


def test_a_clash_is_told_in_the_words_of_the_origin() -> None:
    with pytest.raises(PlxError) as caught:
        borrowed(COINS + "require a & !b", found=False).run()
    found = caught.value.diagnostics[0]
    assert found.message == "the lender is at fault"
    notes = " ".join(note.message for note in found.notes)
    assert "`require a => b`" in notes and "`require a & !b`" in notes


@pytest.mark.parametrize("call", [Model.run, Model.require_world])
def test_a_given_that_clashes_is_its_own_fault(call: object) -> None:
    with pytest.raises(PlxError) as caught:
        call(borrowed(COINS + "query a given !b & a"))  # type: ignore[operator]
    found = caught.value.diagnostics[0]
    assert found.message == "the given of line 5 has probability 0"
    assert "`require a => b`" in found.notes[0].message
