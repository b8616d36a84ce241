"""What headers of the gallery say in words, not in decimals."""

from __future__ import annotations

from tests.gallery import drawn, listed, summed
from tests.use.expected import rows


def test_of_nine_wrong_pixels_five_are_left() -> None:
    truth = {(r, c) for r, line in enumerate(drawn.PICTURE, 1) for c, p in enumerate(line, 1) if p == "#"}
    scanned = {(int(r), int(c)) for r, c in rows("denoise/scanned.csv")}
    answers = summed.denoise().answers
    likely = {(r, c) for r in range(1, 10) for c in range(1, 10) if answers[f"black({r}, {c})"]["true"] > 0.5}
    assert (len(scanned ^ truth), len(likely ^ truth)) == (9, 5)
    assert (6, 5) in likely - scanned
    assert {(5, 9), (6, 8), (7, 8)} == scanned - likely


def test_all_members_are_put_where_they_belong() -> None:
    answers = summed.blocks().answers
    found = [1 if answers[f"group({name})"]["left"] > 0.5 else 2 for name in drawn.PEOPLE]
    assert found == [drawn.group(person) for person in range(len(drawn.PEOPLE))]


def test_four_colours_do_in_9216_ways_and_three_in_none() -> None:
    assert len([*listed.colourings()]) == 9216
    assert not [*listed.colourings("otp")]


def test_borders_are_told_from_both_sides() -> None:
    pairs = {(a, b) for a, near in listed.NEIGHBOURS.items() for b in near.split()}
    assert pairs == {(b, a) for a, b in pairs}


def test_fourteen_newts_were_seen_of_those_drawn() -> None:
    assert len({newt for newt, _ in rows("capture/caught.csv")}) == 14 <= drawn.NEWTS
