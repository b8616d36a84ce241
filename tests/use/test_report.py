"""The page on a run: complete, escaped, on its own, and of use for 1 answer and for 10,000."""

from __future__ import annotations

import pickle
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.testing import CliRunner

import plx
from plx.answer.report import page
from plx.answer.result import Result
from plx.cli.commands import app

TEXT = """
# who <smokes> & why
type P = {anna, "</pre><script>"}
random smokes(P)
random colour(x: P): {red, "<i>"}
weight 0.7: smokes(x) for x in P

query smokes(x)
  for x in P   # both
query colour(anna)
query count(smokes(x) for x in P) as n   query map
query logz
"""


class Page(HTMLParser):
    """The elements of a page, each closed where it has to be, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if dict(attrs).get("class") == "row":
            self.rows.append("")
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" in self.open or "svg" in self.open:
            return
        self.text += data
        if "aside" in self.open or ("pre" in self.open and self.rows):
            self.rows[-1] += data


@pytest.fixture(scope="module")
def sampled() -> Result:
    return plx.run(TEXT, method="gibbs", seed=1, draws=10)


def test_each_answer_stands_beside_its_query(sampled: Result) -> None:
    found = Page(page(sampled))
    (smokes,) = [row for row in found.rows if "query smokes" in row]
    assert "for x in P   # both" in smokes and "smokes(anna)" in smokes and "colour" not in smokes
    (both,) = [row for row in found.rows if "query map" in row]
    assert "as n" in both and "mean" in both and "log weight" in both and "log Z" not in both
    (logz,) = [row for row in found.rows if "query logz" in row]
    assert "log Z" in logz
    numbers = [int(attrs["data-n"] or 0) for _, attrs in found.tags if "data-n" in attrs]
    assert numbers == list(range(1, TEXT.count("\n") + 1))


def test_the_program_is_there_as_written(sampled: Result) -> None:
    lines = re.findall(r'<span data-n="\d+">(.*?)</span>', page(sampled))
    assert [Page(line).text for line in lines] == TEXT.splitlines()


def test_everything_is_escaped_and_nothing_is_fetched(sampled: Result) -> None:
    html = page(sampled, "<b>symmetries</b>")
    found = Page(html)
    tags = {tag for tag, _ in found.tags}
    assert not tags & {"script", "b", "link", "iframe"} and "<b>symmetries</b>" in found.text
    links = [
        value or ""
        for _, attrs in found.tags
        for name, value in attrs.items()
        if "href" in name or name == "src"
    ]
    assert all(link.startswith(("#", "data:")) for link in links)
    assert not re.search(r"url\((?!#)|@import", html)
    (policy,) = [attrs["content"] for _, attrs in found.tags if attrs.get("http-equiv")]
    assert policy is not None and "default-src 'none'" in policy


def test_it_says_how_far_to_trust_it(sampled: Result) -> None:
    text = Page(page(sampled)).text
    for told in ("method gibbs: asked for", "seed 1", "smallest effective sample size", "largest R-hat: 1.0"):
        assert told in text
    assert "not proved that no world is more probable" in text
    exact = Page(page(plx.run("random a\nquery a"))).text
    assert "exact" in exact and "R-hat" not in exact
    assert "the program asks nothing" in Page(page(plx.run("random a"))).text
    rough = plx.run("type T = 1..5\nrandom a(T)\nquery a(1)", method="gibbs", seed=1, samples=200)
    assert "1 of 1 answers not converged" in Page(page(rough)).text


def test_it_says_how_large_it_is(sampled: Result) -> None:
    text = Page(page(sampled)).text
    assert "4 variables (4 of 2 states), 0 observed" in text and "weight 0.7: smokes(x) for x in P" in text


def test_bars_are_as_long_as_probabilities() -> None:
    html = page(plx.run("random a ~ 0.25\nrandom c: {x, y} ~ {x: 0.125, y: 0.875}\nquery a\nquery c"))
    assert re.findall(r"width:([\d.]+)%", html) == ["25.0", "12.5", "87.5"]


def test_ten_thousand_answers_are_folded_up() -> None:
    text = "type P = 1..10000\nrandom a(P)\nweight 0.0004 * p: a(p) for p in P\nquery a(p) for p in P"
    html = page(plx.run(text))
    assert len(html) < 2_500_000
    found = Page(html)
    assert [tag for tag, _ in found.tags].count("details") == 2  # answers, and rules
    assert "10,000 answers, from 0.500100 (a(1)) to 0.982014 (a(10000))" in found.text
    assert [tag for tag, _ in found.tags].count("tr") > 10_000
    assert not any("open" in attrs for tag, attrs in found.tags if tag == "details")


def test_plots_take_the_colours_of_the_page(sampled: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    html = page(sampled)
    drawing = html[html.index("<svg") : html.index("</svg>")]
    assert "var(--plot-main)" in drawing and "#0072b2" not in drawing and "<metadata" not in drawing
    assert "prefers-color-scheme: dark" in html and "@media print" in html
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "pip install 'plx[plot]'" in Page(page(sampled)).text


def test_questions_from_outside_stand_below_the_program() -> None:
    model = plx.compile(TEXT)
    rows = Page(page(model.query("smokes(anna)"))).rows
    assert rows[-1].startswith("query") and "smokes(anna)" in rows[-1]
    assert all("answer" not in row for row in rows[:-1])


@pytest.mark.parametrize("text", ["random a query a", "query a\nrandom a", "random a\r\nquery a\r\n"])
def test_programs_of_any_layout(text: str) -> None:
    found = Page(page(plx.run(text)))
    assert sum("0.5" in row for row in found.rows) == 1


def test_networks_and_kept_results_have_no_program(tmp_path: Path) -> None:
    network = tmp_path / "pair.uai"
    network.write_text("MARKOV\n2\n2 2\n1\n2 0 1\n4\n1 2 3 4\n", encoding="utf-8")
    assert "0.700000" in Page(page(plx.load(network).run())).text
    kept = tmp_path / "r.json"
    result = plx.run(TEXT)
    kept.write_text(result.to_json(), encoding="utf-8")
    found = Page(page(Result.load(kept)))
    assert "smokes(anna)" in found.text and not found.rows
    again = pickle.loads(pickle.dumps(result))
    assert page(again) == page(result)


def test_a_file_is_written_at_once(tmp_path: Path) -> None:
    model = plx.compile(TEXT)
    out = tmp_path / "out.html"
    model.run().report(out, model.symmetries())
    assert out.read_text(encoding="utf-8").startswith("<!doctype html>") and list(tmp_path.iterdir()) == [out]
    assert "a group of order" in Page(out.read_text(encoding="utf-8")).text
    with pytest.raises(plx.PlxError, match=r"the report .* cannot be written"):
        model.run().report(tmp_path / "none" / "out.html")


def test_the_command_line_reports(tmp_path: Path) -> None:
    program, out = tmp_path / "m.plx", tmp_path / "out.html"
    program.write_text(TEXT)
    assert CliRunner().invoke(app, ["run", str(program), "--report", str(out)]).exit_code == 0
    text = Page(out.read_text(encoding="utf-8")).text
    assert "query smokes" in text and "interchangeable" in text
    out.unlink()
    for wrong in (tmp_path / "out.txt", tmp_path / "none" / "out.html"):
        assert CliRunner().invoke(app, ["run", str(program), "--report", str(wrong)]).exit_code == 2
    assert list(tmp_path.iterdir()) == [program]


def test_symmetries_are_left_out_of_large_models() -> None:
    assert plx.compile("type T = 1..20000\nrandom a(T)\nquery a(1)").cheap_symmetries() is None
