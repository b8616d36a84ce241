"""Models that other tools fit too: logistic regression beside scikit-learn, a linear chain beside CRFsuite.

``python -m tests.benchmarks.special_cases`` needs scikit-learn and python-crfsuite, and prints for each the
largest difference of a weight and the CPU times.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import plx

COLUMNS = ("model", "numbers", "largest difference", "plx reads", "plx learns", "other tool")

LOGISTIC = """
type T = 1..{n}
{params}
random y(T)
{learned}
weight b0 + {sum}: y(i) for i in T
"""

CHAIN = """
type S = 1..{sequences}
type T = 1..{length}
type L = {{x, y, z}}
type W = 1..{words}
relation word(S, T, W)
random tag(S, T): L
learn emit(L, W) ~ normal(0, 1)
learn move(L, L) ~ normal(0, 1)
weight emit(l, w): tag(s, t) = l for (s, t, w) in word, l in L
weight move(k, l): tag(s, t) = k & tag(s, t + 1) = l for s in S, t in T, k, l in L if t < {length}
"""


def seconds(work: Callable[[], Any]) -> tuple[Any, float]:
    """What a call gives, and its CPU time."""
    begin = time.process_time()
    return work(), time.process_time() - begin


def logistic(n: int = 5000, columns: int = 6) -> tuple[object, ...]:
    """Logistic regression on normal columns with a normal(0, 2) prior on every coefficient."""
    from sklearn.linear_model import LogisticRegression

    random = np.random.default_rng(1)
    x = random.normal(size=(n, columns)).round(3)
    truth = random.normal(size=columns)
    y = random.random(n) < 1 / (1 + np.exp(-(x @ truth - 0.5)))
    features = [f"x{k}" for k in range(1, columns + 1)]
    text = LOGISTIC.format(
        n=n,
        params="\n".join(f"param {name}(T)" for name in features),
        learned="\n".join(f"learn b{k} ~ normal(0, 2)" for k in range(columns + 1)),
        sum=" + ".join(f"b{k} * x{k}(i)" for k in range(1, columns + 1)),
    )
    data = {name: dict(enumerate(x[:, k].tolist(), start=1)) for k, name in enumerate(features)}
    seen = plx.Else((np.flatnonzero(y) + 1).tolist(), False)
    model, reads = seconds(lambda: plx.compile(text, **data, y=seen))
    fit, learns = seconds(model.learn)
    rival = LogisticRegression(C=4, fit_intercept=False, tol=1e-8, max_iter=1000)
    design = np.column_stack([np.ones(n), x])
    other, theirs = seconds(lambda: rival.fit(design, y))
    away = np.abs(np.array(list(fit.weights.values())) - other.coef_[0]).max()
    return f"logistic regression, {n:,} rows", columns + 1, away, reads, learns, theirs


def chain(sequences: int = 100, length: int = 20, words: int = 8) -> tuple[object, ...]:
    """A linear-chain conditional random field over three tags with normal(0, 1) priors."""
    import pycrfsuite

    random = np.random.default_rng(2)
    tags = np.zeros((sequences, length), dtype=int)
    for t in range(1, length):
        stay = random.random(sequences) < 0.7
        tags[:, t] = np.where(stay, tags[:, t - 1], random.integers(0, 3, sequences))
    word = (tags * 2 + random.integers(0, 4, tags.shape)) % words + 1
    index = [(s, t) for s in range(sequences) for t in range(length)]
    program = CHAIN.format(sequences=sequences, length=length, words=words)
    data = {
        "word": [(s + 1, t + 1, int(word[s, t])) for s, t in index],
        "tag": {(s + 1, t + 1): "xyz"[tags[s, t]] for s, t in index},
    }
    model, reads = seconds(lambda: plx.compile(program, **data))
    fit, learns = seconds(lambda: model.learn(objective="likelihood"))
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params(
        {"c1": 0.0, "c2": 0.5, "epsilon": 1e-9, "delta": 1e-12, "max_iterations": 1000}
        | {"feature.possible_states": True, "feature.possible_transitions": True}
    )
    for s in range(sequences):
        trainer.append([{f"w{w}": 1.0} for w in word[s].tolist()], ["xyz"[k] for k in tags[s]])
    with TemporaryDirectory() as folder:
        file = str(Path(folder) / "model")
        _, theirs = seconds(lambda: trainer.train(file))
        tagger = pycrfsuite.Tagger()
        tagger.open(file)
        info = tagger.info()
    rival = {f"move({a}, {b})": w for (a, b), w in info.transitions.items()}
    rival |= {f"emit({tag}, {name[1:]})": w for (name, tag), w in info.state_features.items()}
    away = max(abs(value - rival[name]) for name, value in fit.weights.items())
    label = f"linear chain, {sequences} sequences of {length}"
    return label, len(fit.weights), away, reads, learns, theirs


def main() -> None:
    """Print the table."""
    print(" | ".join(COLUMNS))
    for model, numbers, away, *times in (logistic(), chain()):
        print(" | ".join([str(model), str(numbers), f"{away:.1e}", *(f"{one:.2f} s" for one in times)]))


if __name__ == "__main__":
    main()
