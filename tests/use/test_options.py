"""What a call asks for: options that make sense, names that are known, and Ctrl-C."""

from __future__ import annotations

import inspect
import itertools
import math
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plx
from plx.api import OPTIONS
from plx.cli import main
from plx.infer.options import Progress, checked, run_options

PROGRAM = "random a\nweight 1: a\nquery a"
MODEL = plx.compile(PROGRAM)

NONSENSE: dict[str, list[Any]] = {
    "seed": [-1, 1.5, 2.0, math.nan, math.inf, True, np.bool_(True), "3", "", b"3", [], 1j, Decimal(3)],
    "chains": [0, -4, 2.5, 4.0, math.nan, False, "many", "2", (), np.float64(2)],
    "samples": [0, -1, 1e5, math.inf, True, "100", np.array([1, 2]), object()],
    "seconds": [-1, -1e-9, math.nan, math.inf, -math.inf, 10**400, True, "60", 1j, [1]],
    "accuracy": [0, 0.0, -1, -0.005, math.nan, math.inf, None, True, "0.01", "high"],
    "method": ["gibs", "", "Exact", None, 3, b"exact", True],
    "workers": [0, -2, 1.5, True, "2"],
    "progress": [1, 0, "yes", None, [print]],
}
CASES = [(name, value) for name, values in NONSENSE.items() for value in values]


@pytest.mark.parametrize(("name", "value"), CASES)
def test_nonsense_is_refused_in_words(name: str, value: Any) -> None:
    for run in (MODEL.run, lambda **options: plx.run(PROGRAM, **options)):
        with pytest.raises(plx.CallError) as caught:
            run(**{name: value})  # type: ignore[operator]
        assert f"`{name}` is" in str(caught.value) or f"there is no {name}" in str(caught.value)
        assert isinstance(caught.value, plx.PlxError)


def test_all_nonsense_is_told_at_once() -> None:
    with pytest.raises(plx.CallError) as caught:
        MODEL.run(chains=0, seed=1.5, samples=1e6, seconds=-1, accuracy=0)  # type: ignore[arg-type]
    assert len(caught.value.diagnostics) == 5
    assert all(diagnostic.hint for diagnostic in caught.value.diagnostics)
    assert "write 1000000" in str(caught.value)


@pytest.mark.parametrize(
    "call",
    [
        lambda: MODEL.symmetries("nce"),  # type: ignore[arg-type]
        lambda: MODEL.symmetries(seconds=-1),
        lambda: MODEL.symmetries(seconds=None),  # type: ignore[arg-type]
        lambda: MODEL.draw_symmetries(form="png"),  # type: ignore[arg-type]
        lambda: MODEL.draw_symmetries("nce"),  # type: ignore[arg-type]
        lambda: plx.compare(MODEL, ["gibbs"], seconds=math.nan),
        lambda: plx.compare(MODEL, ["gibbs"], chains=0),
        lambda: plx.compare(MODEL, ["gibbs"], lanes=1.5),  # type: ignore[arg-type]
        lambda: plx.compare(MODEL, ["gibbs"], seed=-1),
        lambda: plx.compare(MODEL, ["gibs"]),
        lambda: plx.compare(MODEL, ["gibbs"], protocol="papers"),  # type: ignore[arg-type]
    ],
)
def test_other_calls_are_held_to_the_same_rules(call: Callable[[], object]) -> None:
    with pytest.raises(plx.CallError):
        call()


@settings(deadline=None, max_examples=60)
@given(
    st.fixed_dictionaries(
        {"accuracy": st.floats(1e-12, 10)},
        optional={
            "seed": st.integers(0, 2**80) | st.integers(0, 2**31 - 1).map(np.int32),
            "chains": st.integers(1, 10**6) | st.integers(1, 9).map(np.uint8),
            "samples": st.integers(1, 10**12),
            "seconds": st.floats(0, 1e9) | st.integers(0, 10**9) | st.just(np.float32(0.5)),
        },
    )
)
def test_what_makes_sense_is_taken_as_it_is(told: dict[str, Any]) -> None:
    left_out = dict.fromkeys(("seed", "chains", "samples", "seconds"))
    options = run_options("auto", **left_out | told)
    for name, value in told.items():
        assert getattr(options, name) == value and type(getattr(options, name)) in (int, float)
    assert options.seed >= 0 and options.chains >= 1
    if "seconds" not in told:
        assert options.seconds == (None if "samples" in told else 60)


@pytest.mark.parametrize("seed", [0, 2**32, 2**64 - 1, 2**64, 2**200, np.int64(7)])
def test_any_seed_seeds(seed: int) -> None:
    one, two = (MODEL.run(method="gibbs", seed=seed, samples=64, chains=1) for _ in range(2))
    assert one == two and one.seed == seed


COMMANDS = {
    "run": {"seed": ["-1", "1.5", "nan", "x"], "chains": ["0", "-2", "2.5"], "samples": ["0", "1e3"],
            "seconds": ["-1", "nan", "inf", "soon"], "accuracy": ["0", "-1", "nan", "inf"],
            "method": ["gibs"]},
    "symmetries": {"seconds": ["-1", "nan", "inf"], "kind": ["nce"]},
    "compare": {"seed": ["-1"], "chains": ["0"], "lanes": ["0"], "seconds": ["-1", "nan"], "protocol": ["p"]},
}  # fmt: skip
CALLS = [
    (command, name, text)
    for command, options in COMMANDS.items()
    for name, texts in options.items()
    for text in texts
]


@pytest.mark.parametrize(("command", "name", "text"), CALLS)
def test_the_command_line_is_held_to_the_same_rules(
    command: str, name: str, text: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    file = tmp_path / "coin.plx"
    file.write_text(PROGRAM, encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["plx", command, str(file), f"--{name}", text])
    with pytest.raises(SystemExit) as end:
        main()
    out, err = capsys.readouterr()
    assert end.value.code == 2 and not out
    assert name in err and "Traceback" not in err


# ------------------------------------------------------------------------ names


def test_the_signature_names_every_option() -> None:
    own = inspect.signature(plx.run).parameters
    of_model = inspect.signature(plx.Model.run).parameters
    for name in OPTIONS:
        assert own[name].kind is inspect.Parameter.KEYWORD_ONLY
        assert own[name].default == of_model[name].default
        assert own[name].annotation == of_model[name].annotation
    assert list(own) == ["text", *OPTIONS, "bindings"] and list(of_model) == ["self", *OPTIONS]


SLIPS = ["methd", "sed", "chain", "sample", "second", "acuracy", "drows"]
SLIPS += ["exact_rational", "chekpoint", "memry", "clusters", "worker", "progres"]


@pytest.mark.parametrize(
    ("name", "option"),
    list(zip(SLIPS, OPTIONS, strict=True)),
)
def test_a_misspelt_option_is_offered(name: str, option: str) -> None:
    with pytest.raises(plx.PlxError, match=f"did you mean `{option}`, the option of `run`"):
        plx.run(PROGRAM, **{name: 3})  # type: ignore[arg-type]


def test_a_misspelt_name_of_the_program_is_offered_first() -> None:
    with pytest.raises(plx.PlxError, match="did you mean `seconds_`") as caught:
        plx.run("param seconds_\nrandom a\nweight seconds_: a\nquery a", seconds__=3)
    assert "the option" not in str(caught.value)


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_given_to_compile_is_recognised(name: str) -> None:
    with pytest.raises(plx.PlxError, match=f"`{name}` is an option of `run`"):
        plx.compile(PROGRAM, **{name: 1})


SENSE = {"method": "gibbs", "seed": 3, "chains": 4, "samples": 64, "seconds": 5.0, "accuracy": 0.1}


@pytest.mark.parametrize("name", SENSE)
@pytest.mark.parametrize("declaration", ["param {}", "param {} = 2", "type {} = {{p, q}}", "random {}"])
def test_a_name_that_is_an_option_and_declared_is_told(name: str, declaration: str) -> None:
    text = f"{declaration.format(name)}\nrandom a\nquery a"
    with pytest.raises(
        plx.CallError, match=f"`{name}` is an option of `run`, and the program declares it"
    ) as caught:
        plx.run(text, **{name: SENSE[name]})  # type: ignore[arg-type]
    assert caught.value.diagnostics[0].span.line == 1
    if "= " in declaration or "random" in declaration:
        assert plx.run(text)[0].probability == 0.5  # a name that is not given is nobody's


def test_compile_gives_it_to_the_program() -> None:
    model = plx.compile("param seed\nrandom a\nweight seed: a\nquery a", seed=0)
    assert model.run(seed=3)[0].probability == 0.5


def test_public_names_are_listed_without_being_imported() -> None:
    code = (
        "import sys, plx\nassert set(plx.__all__) <= set(dir(plx))\n"
        "heavy = {'numpy', 'numba', 'sympy', 'lark', 'rich', 'pandas', 'plx.model'} & set(sys.modules)\n"
        "assert not heavy, heavy\nfrom plx import *\nassert compare is plx.compare and Symmetries\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        plx.nothing  # noqa: B018


# ----------------------------------------------------------------------- Ctrl-C


def stopping(at: int) -> Callable[[Progress], None]:
    """A Ctrl-C at a report."""
    reports = itertools.count()

    def report(_: Progress) -> None:
        if next(reports) >= at:
            raise KeyboardInterrupt

    return report


def test_ctrl_c_ends_a_loop_of_runs_and_keeps_the_answers() -> None:
    runs = 0
    with pytest.raises(KeyboardInterrupt) as caught:
        for seed in range(3):
            runs += 1
            MODEL.run(method="gibbs", seed=seed, samples=10**9, progress=stopping(6))
    assert runs == 1 and isinstance(caught.value, plx.Interrupted)
    assert not isinstance(caught.value, Exception)
    assert ".result" in str(caught.value)
    result = caught.value.result
    assert result is not None and result.status == "interrupted" and not result.converged
    assert abs(result["a"].probability - 0.7310585786300049) < 0.2


def test_ctrl_c_before_there_is_an_answer() -> None:
    with pytest.raises(plx.Interrupted, match="before there was an answer") as caught:
        MODEL.run(method="gibbs", progress=stopping(0))
    assert caught.value.result is None


def test_numbers_are_checked_in_one_place() -> None:
    with pytest.raises(plx.CallError, match="without quotes: 3"):
        checked(seed="3")
    assert checked(seed=np.int8(3), seconds=1) == {"seed": 3, "seconds": 1.0}
