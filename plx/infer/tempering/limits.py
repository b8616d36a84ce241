"""What tempering may take: temperatures, memory and time to tune them."""

from __future__ import annotations

PER_BARRIER = 2.0
"""Pairs of neighbours for each unit of the barrier: about half of the exchanges are refused then, which makes
most round trips for the work (Syed et al. 2022, §5.3)."""

MOST = 255
"""Temperatures besides β = 0."""

BYTES = 1 << 28
"""Bytes that the worlds of all temperatures may take."""

FIRST = 12
"""Temperatures to begin with."""

PHASES = (8, 8, 16, 16, 32, 32, 64, 64, 128)
"""Rounds of each phase of tuning; temperatures are moved after each."""

LONG = 32
"""A phase with so many rounds tells whether the temperatures are right:"""

AGREE = 0.08
"""the rates at which exchanges are refused are within so much of their mean, …"""

CHANCE = 3.0
"""… or within so many standard errors."""

UNEVEN = 0.25
"""Rates farther than this from their mean are told of."""

TUNING = 0.25
"""The share of the time in which temperatures are tuned."""

WORTH_A_SWEEP = 1 << 14
"""With fewer updates per sweep than this, more than one is made between exchanges, …"""

SWEEPS = 4
"""… up to so many."""

TABLES = 1 << 17
"""Thresholds of all tables at one temperature: with more, fewer conditionals become tables."""

SMALL_TABLES = 256
"""Thresholds of a table then."""

COLD = 4.0
"""Every other ladder begins at worlds that Gibbs sampling found at this inverse temperature, …"""

QUENCH = 24
"""… in so many rounds."""

GROWING = 1 << 16
"""With more factors than this no world is grown to begin at."""

EVERY = 4
"""Of so many ladders one begins at the most probable world, where that is known."""

COUNTING = 0.1
"""The share of the time in which the worlds at β = 0 are counted."""

SELDOM = 8
"""Moves of clusters cost many sweeps: where these alone mix they are made in one of so many turns."""

SLOW = 0.3
"""They do not where log weights `SELDOM` turns apart are so correlated, so clusters move in every turn, …"""

COLDEST = 0.125
"""… and so they do at the coldest temperatures, this share of all: answers are counted there."""

PART_BITS = 12.0
"""A part of a model that is summed over has tables of at most so many bits, …"""

PART_ENTRIES = 1 << 24
"""… and of so many entries together, about."""

PART_UNKNOWNS, PART_FACTORS = 1 << 14, 1 << 17
"""In larger models no part is looked for."""

PART_WIDE = 6
"""Factors over more unknowns than this are in no such part."""

CUT = 0.35
"""Of all weights, in squares, the share of those that are not in the part; with more, β is on all of them."""

ODD = 0.7390851332151607
"""An inverse temperature that weights which people write are not multiples of."""

OFTEN, MOST_STEPS = 0.1, 3
"""A share of all pairs of unknowns that is many, and so many kinds of these are looked at."""

BESIDE, MEMBERS = 8, 32
"""Of the classes of factors beside a cut, the largest so many, each of so many factors or more, are made
stronger at β = 0."""

BEFORE, LOOKS = 24, 8
"""Rounds at β = 1 from the last of which it is told by how much; …"""

EXPLAINED = 0.1
"""… not where they tell less than this share of the variance of what is cut, …"""

GAIN = 1.0
"""… nor by more than this share of themselves."""

PART_TUNING = 0.12
"""The share of the time in which temperatures are tuned where a part stays, as the way to β = 1 is short."""

JUMPS = 16
"""In one of so many turns lanes may jump to the most probable worlds, or from them, …"""

LANES, STAYING, MOST_STAY = 16, 64, 0.75
"""… where of so many lanes that begin there more than this share is there after so many sweeps, …"""

HOLES = 8
"""… and where there are no more such worlds than this."""
