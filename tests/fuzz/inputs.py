"""What is damaged: small inputs of every kind that is read, and how each is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from plx.formats import build
from plx.formats.reader import read_observed
from plx.reading import read_program, read_translated
from tests.fuzz.mutate import NUMBERS, TOKEN

ROOT = Path(__file__).parents[2]
MAX_GROUND = 2000


@dataclass(frozen=True)
class Inputs:
    """Good texts of one kind, tokens to put into them, and what reads the bytes of one in a folder."""

    texts: tuple[str, ...]
    pool: tuple[str, ...]
    read: Callable[[bytes, Path], object]


def _inputs(texts: tuple[str, ...], read: Callable[[bytes, Path], object], words: str = "") -> Inputs:
    tokens = {token for text in texts for token in TOKEN.findall(text) if not token.isspace()}
    return Inputs(texts, (*sorted(tokens), *words.split(), *NUMBERS), read)


# ------------------------------------------------------------------------ programs

WORDS = """type param relation random define weight factor require observe query for in if from as given else
and or not xor true false exists forall count sum map logz log exp sqrt abs min max logit x y
uniform softmax noisy_or alldifferent exactly at_least at_most columns _
( ) { } , : = != < <= > >= => <=> | & ! + - * / % ^ .. "" "q" @ ' # ~ " """

SMALL = (
    """type Area = {theory, systems}
type Course(Area) = {theory: {logic, sets}, systems: {os, db}}
type Student = s1..s3
param w(Student) = {s1: 0.2, else: 0.7}
random passed(s: Student, a: Area): {fail} | Course(a)
define both(s: Student) = forall(passed(s, a) != fail for a in Area)
weight -w(s): passed(s, a) = fail for s in Student, a in Area
random ill(Student)
observe ill = {s3, else: false}
observe passed(s1, theory) = logic
observe passed = {(s2, theory): sets, (s2, systems): db}
query both(s) for s in Student given passed(s2, systems) = os
query count(passed(s, theory) = sets for s in Student) as n
""",
    """type Level = 0..4
random level(Level): Level
random open(Level)
param cost(i: Level, j: Level) = abs(i - j) * log(2)
relation next(i: Level, j: Level) = j = i + 1
factor -cost(i, level(i)) / (1 + i^2) for i in Level
weight 0.5: 0 <= level(i) < level(j) <= 4 for (i, j) in next if i < j
require open(i) => open(j) xor level(i) in {0, 2..3} for (i, j) in next
query level(0) + 2 * level(1) % 3
query map 2
query logz
""",
    """type P = {anna, "b c", 3}
relation friends(P, P) = {(anna, "b c"), ("b c", 3)}
random meets(x: P, y: P) if x != y
random mood(P): {good, bad} | 1..2
weight log(3/2): meets(x, y) <=> mood(x) = mood(y) for (x, y) in friends
weight min(1, sqrt(2)): sum(2 * count(mood(x) = i for i in 1..2) for x in P if x != 3) > 1
observe !meets(anna, 3)
query (mood(anna), meets(3, anna)) as pair
""",
    """type T = {a, b, c}
type K = {lo, hi}
relation e(T, T) = {(a, b), (b, c), (a, c), (c, c)}
param step(K, K) = {(lo, lo): 1, (hi, lo): 0.3, (hi, hi): 0.7, else: 0}
random k(x: T): K ~ {lo: 0.4, hi: 0.6} if x = a else step(k(a))
random l(x: T, y: T) ~ noisy_or(0.1, 0.5: k(z) = hi for (x, z) in e, (z, y) in e) if (x, y) in e
random s(T): 1..3 ~ softmax({1: 0, else: 1/2})
random n(x: T): T ~ {x: 0.5, else: 0.25}
random u: K ~ uniform
weight 1: l(x, y) & l(y, z) => l(x, z) for (x, y) in e, (y, z) in e if (x, z) in e & x != z
weight 0.5: exactly(1, n(y) = x for (x, y) in e, (y, _) in e) for (x, b) in e
require alldifferent(s(x) for x in T)
observe l = {(a, b), (b, c): false, else: true}
observe s = {a: 1}
query at_most(2, l(x, y) for (x, y) in e) given at_least(1, n(x) = x for (x, x) in e)
query l(x, z) as hop for (x, y) in e, (y, z) in e if (x, z) in e
""",
)


def _program(content: bytes, folder: Path) -> object:
    return read_program("fuzz.plx", content, {}, folder, MAX_GROUND).ground


def _programs() -> tuple[str, ...]:
    files = [*(ROOT / "examples").glob("*.plx"), *(ROOT / "tests" / "programs").rglob("*.plx")]
    return SMALL * 4 + tuple(file.read_text("utf-8") for file in sorted(files))


# ------------------------------------------------------------------------ networks

BIF = """network n { property author "me"; }
variable a { type discrete [ 2 ] { yes, no }; }
variable "b c" { type discrete [ 3 ] { <4, 4+, none }; property x = 1; }
probability ( a ) { table 0.2, 0.8; }
probability ( "b c" | a ) {
  (yes) 0.5, 0.25, 0.25; // one row
  default 0.1, 0.2, 0.7; /* the other */
}
"""
UAI = "c one\nMARKOV\n3\n2 2 3\n3\n1 0\n2 0 1\n2 1 2\n\n2\n 0.4 0.6\n4\n 1 2e0\n 3 0 # c\n"
UAI += "6\n 1 1 1\n 2 .5 1e-9\n"
BAYES = 'c plx ["a", "x", "y"]\nBAYES\n1\n2\n1\n1 0\n\n2\n 0.25 0.75\n'
EVIDENCE = ("2 0 1 2 2\n", "1\n1 0 1\n", "# c\nx(0)=1\nx(2)=0\n")
FG = "# two factors\n2\n\n1\n0\n2\n2\n0 0.5\n1 1.5\n\n2\n0 4\n2 3\n4\n0 1\n1 2\n2 3\n5 4e-1\n"
XML = """<?xml version="1.0"?>
<!DOCTYPE BIF [ <!ELEMENT BIF ( NETWORK )*> ]>
<BIF VERSION="0.3"><NETWORK><NAME>n</NAME><!-- two -->
<VARIABLE TYPE="nature"><NAME>a</NAME><OUTCOME>yes</OUTCOME><OUTCOME>&lt;no</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>b c</NAME><OUTCOME>/</OUTCOME><OUTCOME>2</OUTCOME></VARIABLE>
<DEFINITION><FOR>a</FOR><TABLE>0.2 0.8</TABLE></DEFINITION>
<DEFINITION><FOR>b c</FOR><GIVEN>a</GIVEN><TABLE>0.5 0.5 <!-- no --> 0.25 0.75</TABLE></DEFINITION>
</NETWORK></BIF>
"""
HUGIN = """net { node_size = (76 36); }
node a { label = "a \\"b\\""; states = ("yes" "<no"); position = (1 2); }
node b { states = ("x y" "/" "2"); } % a remark
potential (a) { data = (0.2 0.8); }
potential (b | a) { data = ((0.5 0.25 0.25) % yes
  (0.1 0.2 0.7)); }
"""
CNF = (
    "c t wmc\np cnf 3 2\nc p weight 1 0.3 0\nc p weight -1 0.7 0\nc p show 1 2 3 0\n1 -2 0\n2 3 0\n",
    "p cnf 3 2\n1 -2 0\n2 3 0\nw 1 0.3\nw 3 -1\n",
    "c weights 0.3 0.7 0.5 0.5 1 1\np cnf 3 1\n1 -2 3 0\n%\n0\n",
)
WCNF = ("p wcnf 3 3 10\n10 1 2 0\n3 -1 0\n2 -2 3 0\n", "h 1 2 0\n3 -1 0\n2 -2 3 0\n")
PAPER = """{"variables": [{"name": "P1", "domain_size": 2}, {"name": "P2", "domain_size": 3}],
 "features": [{"weight": 1.2, "clause": [[0, 1, 1], [1, 2, 0]]}, {"weight": -3, "clause": [[1, 0, 1]]}]}
"""


def network(suffix: str) -> Callable[[bytes, Path], object]:
    def read(content: bytes, folder: Path) -> object:
        file = folder / f"fuzz{suffix}"
        file.write_bytes(content)
        return build(read_observed(file))

    return read


def _evidence(name: str) -> Callable[[bytes, Path], object]:
    def read(content: bytes, folder: Path) -> object:
        (folder / "seen.uai").write_text(UAI, encoding="utf-8")
        (folder / name).write_bytes(content)
        return build(read_observed(folder / "seen.uai", [folder / name]))

    return read


# --------------------------------------------------------------------- Markov logic

MLN = """// people
person = {Anna, "Bob C", 3}
title = {1, ..., 3}
Friends(person, person)
*Near(person, person)
Has(person, title!)
person boss(person)
Rain
conf(person, float_)
1.5 Friends(x, y) ^ Near(x, y) => (Has(x, t) <=> Has(y, t))
-0.25 !Friends(x, boss(x)) v Rain /* a
remark */
log(3/2) EXIST y (Friends(x, y) ^ x != y)
0.8 Has(x, +t)
c: !conf(x, c) v Friends(x, x)
Has(x, 3) => Friends(x, "Bob C").
"""
DB = """Friends(Anna, 3)
!Friends(3, Anna)
Near(Anna, "Bob C")
Has(3, 2)
boss(Anna) = 3
"Bob C" = boss(3)
conf(Anna, -1.5)
!Rain
"""


def _logic(damaged: str) -> Callable[[bytes, Path], object]:
    def read(content: bytes, folder: Path) -> object:
        for name, text in (("fuzz.mln", MLN), ("fuzz.db", DB)):
            (folder / name).write_bytes(content if name.endswith(damaged) else text.encode())
        network = folder / "fuzz.mln"
        return read_translated(network, [folder / "fuzz.db"], max_ground=MAX_GROUND).ground

    return read


# --------------------------------------------------------------------------- tables

TABLES = """type P from "people.csv"
type Area = {theory, systems}
param w(P, Area) from "w.csv"
relation likes(x: P, y: P) from "likes.csv"
relation met(x: P, y: P) from "met.csv" columns (one, "the other")
param long(x: P, y: P) from "met.csv" columns (one, "the other", hours) else 0
random grade(P): 1..3
weight long(x, y): grade(x) = 1 for (x, y) in met
weight w(x, theory): grade(x) > 1 for x in P
observe grade from "seen.csv" else 1
query grade(x) for x in P if likes(x, anna)
"""
FILES = {
    "people": 'value\nanna\n"van Dyke, Cleo"\nbob\n',
    "w": "Area,P,value\ntheory,anna,0.5\ntheory,bob,-1e-3\nsystems,anna,1\nsystems,bob,2\n"
    'theory,"van Dyke, Cleo",3\nsystems,"van Dyke, Cleo",3\n',
    "likes": 'anna,bob\n\n"bob" , anna\n',
    "seen": "P,value\nanna,2\nbob,3\n",
    "met": 'hours;day;one;"the other"\n3;mon;anna;bob\n1.5;;bob;"van Dyke, Cleo"\n',
}


def _table(name: str) -> Callable[[bytes, Path], object]:
    def read(content: bytes, folder: Path) -> object:
        for other, text in FILES.items():
            (folder / f"{other}.csv").write_bytes(content if other == name else text.encode())
        return read_program("tables.plx", TABLES.encode(), {}, folder, MAX_GROUND).ground

    return read


RECORDS = (
    '{"P": "anna", "value": 2}\n{"P": "bob", "value": 3}\n\n{"value": 1, "P": "van Dyke, Cleo"}\n',
    '{"P": "anna", "value": 1.0}\n',
)
NAMES = ('["a", "<", "/"]\n# two\n["b c", false, true]\n["x(2)", 0, 1, "2"]\n',)


def _records(content: bytes, folder: Path) -> object:
    """Rows of JSON in the place of a table."""
    for other, text in FILES.items():
        (folder / f"{other}.csv").write_text(text)
    (folder / "seen.jsonl").write_bytes(content)
    text = TABLES.replace("seen.csv", "seen.jsonl").encode()
    return read_program("tables.plx", text, {}, folder, MAX_GROUND).ground


def _names(content: bytes, folder: Path) -> object:
    """Names beside a network."""
    (folder / "named.uai").write_text(UAI, encoding="utf-8")
    (folder / "named.uai.names").write_bytes(content)
    return build(read_observed(folder / "named.uai"))


def kinds() -> Mapping[str, Inputs]:
    """The inputs of every kind, by name."""
    marks = ', ; | " "" \' true false'
    tables = {f"{name}.csv": _inputs((text,), _table(name), marks) for name, text in FILES.items()}
    return {
        "program": _inputs(_programs(), _program, WORDS),
        "bif": _inputs((BIF,), network(".bif"), "type discrete [ ] table default property // /* */"),
        "uai": _inputs((UAI, BAYES), network(".uai"), "MARKOV BAYES c #"),
        "fg": _inputs((FG,), network(".fg"), "#"),
        "xml": _inputs((XML,), network(".xml"), "VALUE PROBABILITY &amp; &lt; <! ]]> <?x ?> NETWORK"),
        "net": _inputs((HUGIN,), network(".net"), "decision discrete % states data |"),
        "cnf": _inputs(CNF, network(".cnf"), "p cnf w c ind t vp -1 -2 % h"),
        "wcnf": _inputs((*WCNF, CNF[0]), network(".wcnf"), "p wcnf cnf w c h -1"),
        "json": _inputs((PAPER,), network(".json"), 'null true false NaN Infinity {} [] ""'),
        "mln": _inputs((MLN,), _logic(".mln"), "v EXIST FORALL logx float domSize ?x + ! * # @ $ | ... '"),
        "db": _inputs((DB,), _logic(".db"), "? 0.5 {A} person = v"),
        "evid": _inputs(EVIDENCE, _evidence("seen.evid"), "= x(1)"),
        "virt": _inputs(("2 0 2 0.5 1\n 2 3 1 0 2\n",), _evidence("seen.virt")),
        "jsonl": _inputs(RECORDS, _records, "null true false NaN {} [] 1e999 \\u0000"),
        "names": _inputs(NAMES, _names, "null true false NaN {} [] #"),
        **tables,
    }
