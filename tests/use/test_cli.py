"""The command line: what it prints, where, and how it exits."""

from __future__ import annotations

import csv
import io
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import warnings
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plx.api import load
from plx.cli import main

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"

COIN = """
type Coin = {left, right}
param w = 1
random heads(Coin)
weight w: heads(c) for c in Coin
query heads(left)
query count(heads(c) for c in Coin) as both
query map
"""
P = 0.7310585786300049


@pytest.fixture
def plx(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path):
    """Call plx in an empty folder that holds coin.plx: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)
    Path("coin.plx").write_text(COIN, encoding="utf-8")

    def call(*arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["plx", *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        with pytest.raises(SystemExit) as end:
            main()
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return int(end.value.code or 0), out, err

    return call


# ------------------------------------------------------------------------- run


def test_run_prints_a_table(plx) -> None:
    code, out, err = plx("run", "coin.plx")
    assert code == 0
    assert "0.731059" in out
    assert "method exact" in out
    assert err == ""


def test_json_is_the_documented_object(plx) -> None:
    code, out, _ = plx("run", "coin.plx", "--format", "json")
    data = json.loads(out)
    assert code == 0
    assert list(data)[:6] == ["program", "method", "seed", "converged", "log_z", "queries"]
    heads, both, best = data["queries"]
    assert list(heads)[:10] == [
        "name", "line", "kind", "values", "mean", "sd", "assignment", "log_weight", "ess", "rhat",
    ]  # fmt: skip
    assert (heads["name"], heads["line"], heads["kind"]) == ("heads(left)", 6, "probability")
    assert heads["values"]["true"]["p"] == pytest.approx(P)
    assert heads["values"]["true"]["p"] + heads["values"]["false"]["p"] == pytest.approx(1)
    assert (both["name"], both["kind"]) == ("both", "number")
    assert both["mean"] == pytest.approx(2 * P)
    assert both["values"]["2"]["p"] == pytest.approx(P * P)
    assert best["assignment"] == {"heads(left)": True, "heads(right)": True}
    assert best["log_weight"] == pytest.approx(2)
    assert data["log_z"] == pytest.approx(2 * 1.3132616875182228)


def test_csv_can_be_read_back(plx) -> None:
    code, out, _ = plx("run", "coin.plx", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 0
    assert [row["value"] for row in rows[:2]] == ["false", "true"]
    assert float(rows[1]["p"]) == pytest.approx(P)


def test_output_goes_to_a_file(plx) -> None:
    code, out, _ = plx("run", "coin.plx", "--format", "json", "--output", "answers.json")
    assert (code, out) == (0, "")
    assert json.loads(Path("answers.json").read_text(encoding="utf-8"))["method"] == "exact"


def test_a_dash_reads_standard_input(plx) -> None:
    code, out, _ = plx("run", "-", "--format", "json", stdin=b"\xef\xbb\xbfrandom a\nweight 1: a\nquery a")
    assert code == 0
    assert json.loads(out)["queries"][0]["values"]["true"]["p"] == pytest.approx(P)


def test_bindings_override_the_program(plx) -> None:
    Path("coins.csv").write_text("Coin\nleft\nmiddle\nright\n", encoding="utf-8")
    code, out, _ = plx("run", "coin.plx", "--bind", "w=0", "--bind", "Coin=coins.csv", "--format", "json")
    data = json.loads(out)
    assert code == 0
    assert data["queries"][0]["values"]["true"]["p"] == pytest.approx(0.5)
    assert list(data["queries"][1]["values"]) == ["0", "1", "2", "3"]


def test_a_seed_repeats_a_run(plx) -> None:
    arguments = ("run", "coin.plx", "--method", "gibbs", "--samples", "200", "--format", "json")
    first, again, other = (json.loads(plx(*arguments, "--seed", seed)[1]) for seed in ("3", "3", "4"))
    assert first["seed"] == 3
    assert first["queries"] == again["queries"]
    assert first["queries"] != other["queries"]


def test_a_seed_not_given_is_drawn_and_printed(plx) -> None:
    code, out, err = plx("run", "coin.plx", "--method", "gibbs", "--format", "json")
    seed = json.loads(out)["seed"]
    assert code == 0
    assert isinstance(seed, int)
    assert f"seed {seed}" in err
    assert "seed" in plx("run", "coin.plx", "--method", "gibbs")[1]


@pytest.mark.parametrize("format", ["table", "json", "csv"])
def test_what_has_not_converged_is_marked(plx, format: str) -> None:
    arguments = (
        "run",
        "coin.plx",
        "--method",
        "gibbs",
        "--seed",
        "1",
        "--accuracy",
        "1e-7",
        "--samples",
        "64",
    )
    code, out, err = plx(*arguments, "--format", format)
    assert code == 0
    if format == "table":
        assert "not converged" in out
    elif format == "json":
        assert json.loads(out)["converged"] is False
    else:
        assert {row["converged"] for row in csv.DictReader(io.StringIO(out)) if row["p"]} == {"false"}
    if format != "table":
        assert "not converged" in err


def test_strict_runs_tell_by_their_exit_code_whether_they_converged(plx) -> None:
    program = b"random a\nweight 1: a\nquery a"
    sampled = ("run", "-", "--method", "gibbs", "--seed", "1", "--strict")
    assert plx(*sampled, stdin=program)[0] == 0
    assert plx("run", "-", "--strict", stdin=program)[0] == 0
    assert plx(*sampled[:-1], "--accuracy", "1e-7", "--samples", "64", stdin=program)[0] == 0
    code, out, _ = plx(*sampled, "--accuracy", "1e-7", "--samples", "64", stdin=program)
    assert code == 3
    assert "not converged" in out, "the answers so far are printed"


def test_an_unknown_log_z_is_absent_in_every_format(plx) -> None:
    def printed(format: str) -> str:
        arguments = ("run", "-", "--method", "gibbs", "--seed", "1", "--format", format)
        code, out, _ = plx(*arguments, stdin=b"random a\nweight 1: a\nquery a\nquery logz")
        assert code == 0 and "inf" not in out and "nan" not in out.lower()
        return out

    table = " ".join(printed("table").split())
    assert "log Z not known" in table and "--method exact sums over all of them" in table
    assert "not converged" not in table
    assert json.loads(printed("json"))["queries"][1]["log_z"] is None
    row = list(csv.DictReader(io.StringIO(printed("csv"))))[-1]
    assert (row["query"], row["log_z"]) == ("logz", "")
    assert plx("run", "-", "--method", "gibbs", "--strict", stdin=b"random a\nquery logz")[0] == 3


def test_small_probabilities_keep_their_digits(plx) -> None:
    _, out, _ = plx("run", "-", stdin=b"random a\nweight -40: a\nquery a")
    assert "4.25e-18" in out


@pytest.mark.filterwarnings("default")
def test_warnings_of_python_code_are_sentences(plx, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    monkeypatch.setattr("plx.cli.run.check_method", lambda method: warnings.warn("all is lost", stacklevel=1))
    code, _, err = plx("run", "coin.plx")
    assert code == 0
    assert err == "warning: all is lost\n"


# ---------------------------------------------------------------- check, ground


def test_check_reads_many_files_and_reports_all(plx) -> None:
    Path("bad.plx").write_text("random a\nquery b\nquery c\n", encoding="utf-8")
    code, out, err = plx("check", "coin.plx", "bad.plx")
    assert code == 1
    assert "coin.plx: no mistakes found" in out
    assert "bad.plx:2:7: error:" in err
    assert "bad.plx:3:7: error:" in err
    assert plx("check", ".") == (code, out, err)


def test_check_needs_neither_numba_nor_sympy() -> None:
    code = (
        "import sys; sys.argv = ['plx', 'check', 'examples/curriculum.plx']\n"
        "from plx.cli import main\n"
        "try: main()\nexcept SystemExit as end: assert end.code == 0\n"
        "slow = {'numba', 'sympy', 'pandas', 'polars', 'scipy', 'pynauty', 'rich'} & set(sys.modules)\n"
        "assert not slow, slow"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT, capture_output=True)


def test_check_of_an_example_is_quick() -> None:
    """Beside what Python takes to load the libraries that it needs, as a busy machine slows down both."""
    libraries = [sys.executable, "-c", "import lark, numpy, typer"]
    check = [sys.executable, "-m", "plx", "check", "examples/curriculum.plx"]
    # Twice as long; four times where no bytecode and no tables of the parser are kept.
    assert processor_seconds(check) < 10 * processor_seconds(libraries)


def processor_seconds(command: Sequence[str]) -> float:
    """The least of three runs."""
    found = []
    for _ in range(3):
        before = os.times()
        subprocess.run(command, check=True, cwd=ROOT, capture_output=True)
        after = os.times()
        found.append(
            after.children_user + after.children_system - before.children_user - before.children_system
        )
    return min(found)


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        ("Coin=folder/", 2, "is a folder"),
        ("Coin=folder", 1, "(with a comma)"),
        ("Coin=left", 1, "--bind Coin=left, (with a comma)"),
        ("Coin=left,", 0, ""),
        ("Coin=nowhere.csv", 2, "there is no file"),
    ],
)
def test_bind_says_what_to_change(plx, given: str, code: int, said: str) -> None:
    Path("folder").mkdir()
    found, _, err = plx("run", "coin.plx", "--bind", given)
    assert found == code
    assert said in " ".join(err.replace("│", " ").split())


def test_ground_reports_sizes(plx) -> None:
    code, out, _ = plx("ground", "coin.plx", "--format", "json")
    report = json.loads(out)
    assert code == 0
    assert (report["variables"], report["observed"]) == (2, 0)
    assert report["rules"][0]["instances"] == 2
    assert report["rules"][0]["line"] == 5
    (ahead,) = report["answered"]
    assert ahead["way"] == "enumeration" and ahead["queries"] == list(range(report["queries"]))
    code, out, _ = plx("ground", "coin.plx")
    assert code == 0
    assert "2 variables" in out and out.splitlines()[-1] == ahead["words"]


def test_ground_shows_joins(plx) -> None:
    text = b"""type P = {a, b, c}
relation e(P, P) = {(a, b), (b, c), (b, a)}
random f(P)
weight 1: f(x) => f(z) for (x, y) in e, (y, z) in e if x != z
weight 1: f(x) for x in P
query f(a)
"""
    code, out, _ = plx("ground", "-", "--format", "json", stdin=text)
    rules = json.loads(out)["rules"]
    steps = [("(x, y) in e", [], 3), ("(y, z) in e", ["y"], 1)]
    assert code == 0 and [tuple(step.values()) for step in rules[0]["steps"]] == steps
    assert rules[1]["steps"] == []
    code, out, _ = plx("ground", "-", stdin=text)
    assert code == 0 and re.search(r"\n +\(y, z\) in e joined on y +1 *\n", out)


def test_ground_dumps_by_name(plx) -> None:
    code, out, _ = plx("ground", "coin.plx", "--dump")
    assert code == 0
    assert "variable heads(left): false true" in out
    assert "factor (heads(left))" in out
    assert "  true: 1" in out


def test_ground_writes_uai_that_reads_back(plx) -> None:
    """The file has the program's marginals, by name, and its log Z but for what is said."""
    code, out, err = plx("ground", "coin.plx", "--format", "uai", "--output", "coin.uai")
    assert (code, out) == (0, "")
    found = re.fullmatch(r"note: log Z of the program = log Z of the file ([+-]) (\S+)\n", err)
    assert found
    whole, back = load("coin.plx").run(), load("coin.uai").run()
    assert back["heads(left)"].probability == pytest.approx(whole["heads(left)"].probability, abs=1e-12)
    assert back.log_z + float(found[1] + found[2]) == pytest.approx(whole.log_z, abs=1e-9)
    code, out, _ = plx("ground", "coin.plx", "--format", "uai")
    assert (code, out) == (0, Path("coin.uai").read_text(encoding="utf-8"))
    code, _, err = plx("ground", "coin.plx", "--format", "uai", "--dump")
    assert code == 2
    assert "--dump" in err


def test_ground_writes_its_report_to_a_file(plx) -> None:
    for flags in (["--dump"], [], ["--format", "csv"]):
        _, out, _ = plx("ground", "coin.plx", *flags)
        code, nothing, _ = plx("ground", "coin.plx", *flags, "--output", "report")
        assert (code, nothing) == (0, "")
        written = Path("report").read_text(encoding="utf-8")
        assert written.splitlines()[0] == out.splitlines()[0]


def test_check_takes_the_evidence_of_networks(plx) -> None:
    Path("n.uai").write_text("MARKOV\n2\n2 2\n1\n2 0 1\n\n4\n1 0 0 1\n", encoding="utf-8")
    Path("n.evid").write_text("2 0 0 1 1", encoding="utf-8")
    assert plx("check", "--deep", "n.uai", "--evidence", "x(0)=1")[0] == 0
    code, _, err = plx("check", "--deep", "n.uai", "--evidence", "n.evid")
    assert code == 1
    assert "the evidence has probability 0" in err
    assert plx("check", "n.uai", "--evidence", "nowhere")[0] == 2


def test_ground_refuses_what_is_too_large(plx) -> None:
    text = b"type N = 1..1000\nrandom a(N)\nweight 1: a(i) = a(j) for i, j in N if i * j % 7 = 3\nquery a(1)"
    code, _, err = plx("ground", "-", "--max-ground", "5000", stdin=text)
    assert code == 1
    assert ":3:" in err


# ------------------------------------------------------------------ symmetries


@pytest.mark.parametrize("option", ["--kind", "--method"])
@pytest.mark.parametrize(("kind", "order"), [("variable", 1), ("vv", 2), ("nec", 2)])
def test_symmetries_are_reported(plx, option: str, kind: str, order: int) -> None:
    """A renamed pair: only the exchange of (a, v) and (b, not v) leaves the distribution as it is."""
    Path("pair.plx").write_text(
        "random a\nrandom b\nweight 2: a\nweight -2: b\nweight 1: a = b", encoding="utf-8"
    )
    code, out, _ = plx("symmetries", "pair.plx", option, kind, "--format", "json")
    found = json.loads(out)
    assert code == 0
    assert (found["kind"], found["order"]) == (kind, order)
    code, out, _ = plx("symmetries", "pair.plx", f"{option}={kind}")
    assert code == 0
    assert ("order 2" in out) == (order == 2)


def test_the_old_name_of_the_kind_of_symmetry_is_hidden(plx) -> None:
    code, out, _ = plx("symmetries", "--help")
    assert code == 0
    assert "--kind" in out and "--method" not in out
    code, _, err = plx("symmetries", "coin.plx", "--method", "gibbs")
    assert code == 2
    assert "variable" in err


@pytest.mark.parametrize(("name", "begins"), [("g.svg", "<svg"), ("g.dot", "graph")])
def test_a_coloured_graph_is_drawn(plx, name: str, begins: str) -> None:
    code, _, _ = plx("symmetries", "coin.plx", "--draw", name)
    assert code == 0
    assert Path(name).read_text(encoding="utf-8").startswith(begins)


def test_a_picture_has_a_known_form(plx) -> None:
    code, _, err = plx("symmetries", "coin.plx", "--draw", "g.bmp")
    assert code == 2
    assert ".svg" in err


# ------------------------------------------------------------------- networks

UAI = "MARKOV\n2\n2 2\n1\n2 0 1\n4\n1 2 3 4\n"


@pytest.mark.parametrize("evidence", ["x(1)=1", "seen.evid"])
def test_a_network_is_run_with_its_evidence(plx, evidence: str) -> None:
    Path("pair.uai").write_text(UAI, encoding="utf-8")
    Path("seen.evid").write_text("1 1 1\n", encoding="utf-8")
    code, out, _ = plx("run", "pair.uai", "--evidence", evidence, "--format", "json")
    (query,) = json.loads(out)["queries"]
    assert code == 0
    assert [value["p"] for value in query["values"].values()] == pytest.approx([2 / 6, 4 / 6])


def test_the_most_probable_worlds_of_a_network(plx, tmp_path: Path) -> None:
    file = tmp_path / "pair.uai"
    file.write_text(UAI, encoding="utf-8")
    code, out, _ = plx("run", str(file), "--map", "2", "--format", "json")
    assert code == 0
    (answer,) = (query for query in json.loads(out)["queries"] if query["kind"] == "map")
    assert len(answer["worlds"]) == 2
    assert answer["worlds"][0]["log_weight"] >= answer["worlds"][1]["log_weight"]


def test_map_is_for_networks_only(plx, tmp_path: Path) -> None:
    file = tmp_path / "a.plx"
    file.write_text("random a  query a", encoding="utf-8")
    code, _, error = plx("run", str(file), "--map", "2")
    assert code == 2 and "query map 2" in error


def test_evidence_is_for_networks_only(plx) -> None:
    code, _, err = plx("run", "coin.plx", "--evidence", "x=1")
    assert code == 2
    assert "--bind" in err


# ------------------------------------------------------------- mistakes of a call


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "nowhere.plx"], "no such file"),
        (["check", "nowhere.plx"], "no such file"),
        (["run", "."], "folder"),
        (["run", "coin.plx", "--methd", "exact"], "--methd"),
        (["run", "coin.plx", "--method", "exct"], "exct"),
        (["run", "coin.plx", "--format", "xml"], "xml"),
        (["run", "coin.plx", "--chains", "many"], "--chains"),
        (["run", "coin.plx", "--seconds", "-1"], "--seconds"),
        (["run", "coin.plx", "--bind", "w"], "NAME=VALUE"),
        (["run", "coin.plx", "--bind", "Coin=nowhere.csv"], "nowhere.csv"),
        (["run", "coin.plx", "--bind", "w=1", "--bind", "w=2"], "twice"),
        (["run", "coin.plx", "--output", "no/where.json"], "no folder `no`"),
        (["walk", "coin.plx"], "walk"),
        (["run"], "FILE"),
    ],
)
def test_a_wrong_call_exits_with_2(plx, arguments: list[str], said: str) -> None:
    code, out, err = plx(*arguments)
    assert code == 2
    assert said in " ".join(err.replace("│", " ").split())
    assert out == ""


# ---------------------------------------------------------- mistakes of a program


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"random a\nweight 1 a\nquery a", ":2:"),
        (b"random a\nquery b", "`b`"),
        (b"random a\nrequire a\nrequire not a\nquery a", "no world"),
        (b"random a\nrandom b\nrequire a => b\nquery a given a, not b", "given of line 4 has probability 0"),
        (b"random a\nquery a # \xff", "UTF-8"),
        (b"query \xf0\x9f", "UTF-8"),
    ],
)
def test_a_wrong_program_exits_with_1(plx, text: bytes, said: str) -> None:
    code, out, err = plx("run", "-", stdin=text)
    assert code == 1
    assert said in err
    assert "error:" in err
    assert out == ""


TEXT = """
type param relation random define weight factor require observe query for in if from as given else and or
not xor true false exists forall count sum map logz a b f g x y T
{ } ( ) , : = != < <= => <=> | & ! + - * / % ^ ..
1 2 0.5 1e999 "q" "" # ~ é 名 ' @
"""
WORDS = st.sampled_from([*TEXT.split(), "\n"])


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(words=st.lists(WORDS, max_size=30))
def test_no_text_makes_a_traceback(plx, words: list[str]) -> None:
    code, _, err = plx("check", "-", stdin=" ".join(words).encode())
    assert code in (0, 1)
    assert (code == 1) == ("error:" in err)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(content=st.binary(max_size=60))
def test_no_bytes_make_a_traceback(plx, content: bytes) -> None:
    assert plx("check", "-", stdin=content)[0] in (0, 1)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_damaged_example_makes_a_traceback(plx, data: st.DataObject) -> None:
    text = data.draw(st.sampled_from([path.read_text("utf-8") for path in sorted(EXAMPLES.glob("*.plx"))]))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 40)))
    put = data.draw(st.text(max_size=5))
    assert plx("check", "-", stdin=(text[:start] + put + text[end:]).encode("utf-8", "replace"))[0] in (0, 1)


# -------------------------------------------------------------------- processes


def process(*arguments: str, **more: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "plx", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=ROOT,
        **more,
    )  # type: ignore[call-overload, no-any-return]


def test_help_names_what_can_be_asked() -> None:
    """Each with a line to copy, which does what it says."""
    text = process("--help", env=os.environ | {"COLUMNS": "100"}).stdout
    for topic, example in {
        "Marginals": "query smokes(anna)",
        "Given evidence": "query smokes(anna) given smokes(bob)",
        "MAP": "query map",
        "log Z": "query logz",
        "Sampling": "plx run smokers.plx --method gibbs --seed 1 --chains 20 --seconds 10",
    }.items():
        (line,) = (line for line in text.splitlines() if line.strip().startswith(f"{topic}:"))
        assert example in line
        program = "type P = {anna, bob} random smokes(P) weight 1: smokes(anna) = smokes(bob) "
        program, arguments = (
            (program + example, ["run", "-"])
            if example.startswith("query")
            else (program + "query smokes(bob)", example.replace("smokers.plx", "-").split()[1:])
        )
        assert process(*arguments, input=program).returncode == 0
    assert "--seconds" in process("run", "--help").stdout


def test_version() -> None:
    assert process("--version").stdout.startswith("plx ")


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"NO_COLOR": "1", "FORCE_COLOR": "1"}, {}])
def test_no_colours_where_none_are_wanted(environment: dict[str, str]) -> None:
    done = process("run", "-", input="random a\nquery b", env=os.environ | environment)
    assert done.returncode == 1
    assert "\x1b[3" not in done.stdout + done.stderr
    done = process("run", "-", input="random a\nquery a", env=os.environ | environment)
    assert done.returncode == 0
    assert "\x1b[3" not in done.stdout + done.stderr


def test_a_closed_pipe_is_no_crash() -> None:
    command = f"{sys.executable} -m plx run examples/timetable.plx --format csv | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=ROOT)
    assert "Traceback" not in done.stderr


GRID = """
type N = 1..200
random up(N, N)
weight 0.4: up(r, c) = up(r + 1, c) for r, c in N if r < 200
weight 0.4: up(r, c) = up(r, c + 1) for r, c in N if c < 200
query up(100, 100)
"""


@pytest.mark.parametrize("format", ["table", "json"])
def test_an_interrupted_run_gives_the_answers_so_far(plx, monkeypatch, format: str) -> None:
    reports = itertools.count()

    @contextmanager
    def control_c(*_: object):
        def report(_: object) -> None:
            if next(reports) == 3:
                raise KeyboardInterrupt

        yield report

    monkeypatch.setattr("plx.progress.watching", control_c)
    code, out, _ = plx("run", "coin.plx", "--method", "gibbs", "--accuracy", "1e-7", "--format", format)
    assert code == 130
    if format == "json":
        data = json.loads(out)
        assert (data["status"], data["converged"]) == ("interrupted", False)
        assert data["queries"][0]["values"]["true"]["p"] == pytest.approx(P, abs=0.2)
    else:
        assert "interrupted: these are the answers so far" in out
        assert "0.7" in out


def test_control_c_is_no_crash(tmp_path: Path) -> None:
    program = tmp_path / "grid.plx"
    program.write_text(GRID, encoding="utf-8")
    command = [sys.executable, "-m", "plx", "run", str(program), "--method", "gibbs", "--accuracy", "1e-6"]
    run = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert run.stderr is not None
    run.stderr.readline()  # it says what it does when that takes longer than a second
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=60)
    assert run.returncode == 130
    assert "Traceback" not in out + err
    assert "interrupted" in out + err
