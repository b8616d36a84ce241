"""DIMACS: known numbers of models, weights in every form, MaxSAT, and what is refused."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random

import pytest

import plx
from plx.formats import read_model
from tests.formats.reading import mistake, save, total

Clauses = Sequence[Sequence[int]]


def dimacs(variables: int, clauses: Clauses, lines: Iterable[str] = ()) -> str:
    listed = (" ".join(map(str, [*clause, 0])) for clause in clauses)
    return "\n".join([f"p cnf {variables} {len(clauses)}", *lines, *listed]) + "\n"


def models(variables: int, clauses: Clauses) -> list[tuple[bool, ...]]:
    """All assignments that satisfy a formula, one by one."""
    return [
        world
        for world in itertools.product([False, True], repeat=variables)
        if all(any(world[abs(literal) - 1] == (literal > 0) for literal in clause) for clause in clauses)
    ]


def count(path: Path) -> float:
    result = plx.load(path).run(method="exact")
    assert [query.kind for query in result] == ["logz"]
    return math.exp(result.log_z)


# ------------------------------------------------------------------------- known numbers


def one_of(variables: Sequence[int]) -> list[list[int]]:
    """Exactly one of these."""
    return [list(variables), *([-a, -b] for a, b in itertools.combinations(variables, 2))]


def dominoes(rows: int, columns: int) -> tuple[int, list[list[int]]]:
    """Tilings of a board: a variable for each place of a domino, each square is covered once."""
    cells = list(itertools.product(range(rows), range(columns)))
    places = [((r, c), other) for r, c in cells for other in ((r, c + 1), (r + 1, c)) if other in set(cells)]
    covering = ([i + 1 for i, place in enumerate(places) if cell in place] for cell in cells)
    return len(places), [clause for covers in covering for clause in one_of(covers)]


def queens(n: int) -> tuple[int, list[list[int]]]:
    def at(row: int, column: int) -> int:
        return row * n + column + 1

    squares = list(itertools.product(range(n), repeat=2))
    clauses = [[at(r, c) for c in range(n)] for r in range(n)]
    for (r, c), (s, d) in itertools.combinations(squares, 2):
        if r == s or c == d or abs(r - s) == abs(c - d):
            clauses.append([-at(r, c), -at(s, d)])
    return n * n, clauses


def ring(n: int) -> tuple[int, list[list[int]]]:
    """Independent sets of a ring: Lucas numbers."""
    return n, [[-(i + 1), -((i + 1) % n + 1)] for i in range(n)]


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        (dominoes(4, 4), 36),
        (dominoes(6, 6), 6728),
        (dominoes(2, 20), 10946),  # a Fibonacci number
        (queens(5), 10),
        (queens(6), 4),
        (ring(30), 1860498),
        ((40, []), 2**40),
        ((20, [list(range(1, 21))]), 2**20 - 1),  # too wide for a table
        ((20, [list(range(1, 21)), list(range(-20, 0))]), 2**20 - 2),
        ((3, [[1, -1], [2, 2]]), 4),
    ],
)
def test_known_numbers_of_models(tmp_path: Path, formula: tuple[int, Clauses], expected: int) -> None:
    file = save(tmp_path, "a.cnf", dimacs(*formula))
    assert count(file) == pytest.approx(expected, rel=1e-12)


def test_random_formulas_with_weights(tmp_path: Path) -> None:
    random = Random(5)
    for _ in range(40):
        n = random.randint(1, 7)
        clauses = [
            [random.choice([-1, 1]) * random.randint(1, n) for _ in range(random.randint(1, 4))]
            for _ in range(random.randint(0, 5))
        ]
        weight = {s * v: random.choice([0.25, 1, 2.5, 0]) for v in range(1, n + 1) for s in (1, -1)}
        expected = sum(
            math.prod(weight[v + 1 if on else -v - 1] for v, on in enumerate(world))
            for world in models(n, clauses)
        )
        lines = [f"c p weight {literal} {w} 0" for literal, w in weight.items()]
        file = save(tmp_path, "a.cnf", dimacs(n, clauses, lines))
        if expected:
            assert count(file) == pytest.approx(expected, rel=1e-12)
        else:
            with pytest.raises(plx.PlxError):
                plx.load(file).run()


# ------------------------------------------------------------------------- forms of weights

SAME = {
    "competition.cnf": "c t wmc\np cnf 3 2\nc p weight 1 0.3 0\nc p weight -1 0.7 0\n"
    "c p weight 2 0.5 0\nc p weight -2 .5 0\nc a remark 1 0\n1 -2 0\n2\n3 0\n",
    "fractions.cnf": "p cnf 3 2\r\n1 -2 0 2 3 0\r\nc p weight 1 3/10 0\r\nc p weight 2 1/2 0\r\n",
    "2020.wcnf": "p wcnf 3 2\nw 1 0.3 0\nw -1 0.7 0\nw 2 0.5 0\nw -2 0.5 0\n1 -2 0\n2 3 0\n",
    "cachet.cnf": "p cnf 3 2\n1 -2 0\n2 3 0\nw 1 0.3\nw 2 0.5\nw 3 -1\n",
    "minic2d.cnf": "c weights 0.3 0.7 0.5 0.5 1 1\np cnf 3 2\n1 -2 0\n2 3 0\n%\n0\n",
    "shown.cnf": "p cnf 3 2\nc p show 1 2 0\nc p show 3 0\nw 1 0.3\nw 2 0.5\n1 -2 0\n2 3 0\n",
}


@pytest.mark.parametrize("name", SAME)
def test_forms_of_one_formula(tmp_path: Path, name: str) -> None:
    assert count(save(tmp_path, name, SAME[name])) == pytest.approx(0.8, rel=1e-12)


def test_a_weight_alone_is_completed_and_said(tmp_path: Path) -> None:
    model = read_model(save(tmp_path, "a.cnf", SAME["cachet.cnf"]))
    assert [str(w.message) for w in model.warnings] == [
        "one weight w of 2 variables is given; the other is taken to be 1 - w"
    ]
    model = read_model(save(tmp_path, "a.cnf", SAME["competition.cnf"]))
    assert not model.warnings


def test_evidence_gives_the_weight_of_the_models_that_agree(tmp_path: Path) -> None:
    file = save(tmp_path, "a.cnf", SAME["competition.cnf"])
    assert math.exp(total(read_model(file, ["x(2)=true"]))) == pytest.approx(0.3)
    assert math.exp(total(read_model(file, ["2=false"]))) == pytest.approx(0.5)
    assert "probability 0" in mistake(file, ["x(2)=true", "x(1)=false"])


# --------------------------------------------------------------------------------- MaxSAT


def test_evidence_files_count_variables_as_the_formula_does(tmp_path: Path) -> None:
    file = save(tmp_path, "a.cnf", SAME["competition.cnf"])
    by_number = read_model(file, [save(tmp_path, "a.evid", "1 1 1\n")])
    assert total(by_number) == total(read_model(file, {"x(1)": "true"}))
    likelihood = read_model(file, [save(tmp_path, "a.virt", "1 1 2 0 1\n")])
    assert total(likelihood) == pytest.approx(total(by_number))
    for text in ("1 0 1", "1 4 1"):
        said = mistake(file, [save(tmp_path, "b.evid", text)])
        assert f"b.evid:1:3: error: there is no variable {text[2]}: the model has 3, numbered 1 to 3" in said


TOP = "c MaxSAT\np wcnf 3 4 20\n20 1 2 0\n3 -1 0\n4 -2 3 0\n2 -3 0\n"
HARD = "c MaxSAT of 2022\nh 1 2 0\n3 -1 0\n4 -2 3 0\n2 -3 0\n"


@pytest.mark.parametrize("text", [TOP, HARD])
def test_maxsat_asks_for_a_best_world(tmp_path: Path, text: str) -> None:
    (query,) = plx.load(save(tmp_path, "a.wcnf", text)).run()
    assert query.kind == "map"
    assert query.worlds[0].log_weight == -2
    assert query.worlds[0].optimal


def test_random_maxsat(tmp_path: Path) -> None:
    random = Random(7)
    for _ in range(25):
        n = random.randint(1, 6)
        hard = [[random.choice([-1, 1]) * random.randint(1, n) for _ in range(3)] for _ in range(3)]
        soft = [
            (random.randint(1, 9), [random.choice([-1, 1]) * random.randint(1, n) for _ in range(2)])
            for _ in range(6)
        ]
        lines = [f"h {' '.join(map(str, c))} 0" for c in hard]
        lines += [f"{w} {' '.join(map(str, c))} 0" for w, c in soft]
        costs = [
            sum(w for w, c in soft if not any(world[abs(x) - 1] == (x > 0) for x in c))
            for world in models(n, hard)
        ]
        # A variable that no clause names is not there.
        (query,) = plx.load(save(tmp_path, "a.wcnf", "\n".join(lines) + "\n")).run()
        assert query.worlds[0].log_weight == pytest.approx(-min(costs), abs=1e-9)


# ------------------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.cnf", "", "a.cnf:1:1: error: there is no line `p cnf VARIABLES CLAUSES`"),
        ("a.cnf", "1 2 0\n", "there is no line `p cnf"),
        ("a.cnf", "p cnf 2\n1 0\n", "a.cnf:1:1: error: `p cnf` is followed by the numbers"),
        ("a.cnf", "p sat 2 1\n", "this line is `p cnf VARIABLES CLAUSES`"),
        ("a.cnf", "p cnf x 1\n1 0\n", "a.cnf:1:7: error: the number of variables must be a whole number"),
        ("a.cnf", "p cnf 9999999 1\n1 0\n", "at most 1,000,000 variables"),
        ("a.cnf", "p cnf 2 1\np cnf 2 1\n1 0\n", "a.cnf:2:1: error: a second line `p`"),
        ("a.cnf", "p cnf 2 2\n1 2 0\n", "a.cnf:1:1: error: 2 clauses are announced, and 1 follow"),
        ("a.cnf", "p cnf 2 1\n1 2 0\n-1 0\n", "1 clauses are announced, and 2 follow"),
        ("a.cnf", "p cnf 2 2\n1 2 0\n-1", "a.cnf:3:1: error: the last clause does not end with 0"),
        ("a.cnf", "p cnf 2 1\n1 3 0\n", "a.cnf:2:3: error: there is no variable 3: the file has 2"),
        ("a.cnf", "p cnf 2 1\n1 b 0\n", "a.cnf:2:3: error: a clause is made of numbers of variables"),
        ("a.cnf", "p cnf 2 1\n0\n", "a.cnf:2:1: error: clause 1: all entries are 0"),
        ("a.cnf", "p cnf 2 1\nc p weight 3 1 0\n1 0\n", "a.cnf:2:12: error: there is no variable 3"),
        ("a.cnf", "p cnf 2 1\nc p weight 1 -1 0\n1 0\n", "a.cnf:2:14: error: the weight `-1` is negative"),
        ("a.cnf", "p cnf 2 1\nc p weight 1 x 0\n1 0\n", "a.cnf:2:14: error: `x` is no weight"),
        ("a.cnf", "p cnf 2 1\nc p weight 1 1/0 0\n1 0\n", "`1/0` is no weight"),
        ("a.cnf", "p cnf 2 1\nc p weight 1 0\n1 0\n", "this line is `c p weight LITERAL WEIGHT 0`"),
        ("a.cnf", "p cnf 2 1\nc p weight 1 1 1 1 0\n1 0\n", "this line is `c p weight LITERAL WEIGHT 0`"),
        ("a.cnf", "p cnf 2 1\nw 1 1\nw 1 2\n1 0\n", "a.cnf:3:5: error: a second weight of the literal 1"),
        ("a.cnf", "p cnf 2 1\nw 1 3\n1 0\n", "the literal 1 has the weight 3, and -1 has none"),
        ("a.cnf", "p cnf 2 1\nc weights 1 2 3\n1 0\n", "4 weights are needed"),
        ("a.cnf", "p cnf 2 1\nc p show 1 0\n1 0\n", "a.cnf:2:1: error: models are to be counted by 1 of 2"),
        ("a.cnf", "p pcnf 2 1 1\nvp 1 0\n1 0\n", "projected counting"),
        ("a.cnf", "c t amc\np cnf 2 1\n1 0\n", "a.cnf:1:1: error: plx counts models of the kinds mc, wmc"),
        ("a.wcnf", "p cnf 2 1\n1 0\n", "`p cnf` without weights in a .wcnf file"),
        ("a.wcnf", "p wcnf 2 1\n1 2 0\n", "a.wcnf:1:1: error: `p wcnf` with two numbers is MaxSAT without"),
        ("a.wcnf", "p wcnf 2 1 9\nc p weight 1 1 0\n9 1 0\n", "this is of model counting, and the line `p`"),
        ("a.wcnf", " \n", "a.wcnf is empty"),
        ("a.wcnf", "h 1 0\nx 2 0\n", "a.wcnf:2:1: error: `x` is no weight"),
        ("a.wcnf", "h 1 0\n-3 2 0\n", "the weight `-3` is negative"),
    ],
)
def test_mistakes_have_a_place(tmp_path: Path, name: str, text: str, expected: str) -> None:
    assert expected in mistake(save(tmp_path, name, text))


def test_clauses_that_clash_are_named(tmp_path: Path) -> None:
    wide = list(range(1, 15))
    clauses = [wide, *([-v] for v in wide)]
    file = save(tmp_path, "a.cnf", dimacs(15, [*clauses, [15, 1]]))
    with pytest.raises(plx.PlxError, match="clause 1") as caught:
        plx.load(file).run()
    assert "clause 16" not in str(caught.value)
