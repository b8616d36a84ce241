"""A program inside Python: how sure can one be of a route, given what other drivers report?

The world (places, roads, reports) comes from Python; the model is a plx program in a string. Each
road is open or blocked, drivers are right nine times in ten, and a route is free if each
of its roads is. What to expect: the short route, of which one road was reported blocked,
is free with probability 0.299, the long one with 0.921.

Run it with ``python examples/embed.py``.
"""

from __future__ import annotations

import plx

MODEL = """
type Place
relation road(Place, Place)
relation short(Place, Place)
relation long(Place, Place)
param right = 0.9

random open(a: Place, b: Place) if road(a, b)
random says(a: Place, b: Place) if road(a, b)

weight logit(0.8): open(a, b)               for (a, b) in road
weight logit(right): says(a, b) = open(a, b)    for (a, b) in road

query forall(open(a, b) for (a, b) in short) as short_free
query forall(open(a, b) for (a, b) in long) as long_free
"""

PLACES = ["home", "bridge", "market", "mill", "office"]
SHORT = [("home", "bridge"), ("bridge", "office")]
LONG = [("home", "market"), ("market", "mill"), ("mill", "office")]
REPORTS = {
    ("home", "bridge"): True,
    ("bridge", "office"): False,
    ("home", "market"): True,
    ("market", "mill"): True,
    ("mill", "office"): True,
}


def route_probabilities(right: float = 0.9) -> dict[str, float]:
    """The probability that each route is free, if drivers are right with probability ``right``."""
    result = plx.run(
        MODEL, Place=PLACES, road=SHORT + LONG, short=SHORT, long=LONG, says=REPORTS, right=right, seed=1
    )
    return {name: result[name].probability for name in ("short_free", "long_free")}


if __name__ == "__main__":
    for right in (0.6, 0.9, 0.99):
        free = route_probabilities(right)
        print(f"drivers right {right:.0%}: short {free['short_free']:.3f}, long {free['long_free']:.3f}")
