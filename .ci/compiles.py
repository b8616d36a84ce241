"""Runs what compiles: samplers beside exact answers, symmetries, a junction tree past a million steps."""

import plx
from plx.jit import Kernel

RING = """
    type Place = 1..10
    random up(Place)
    weight 1: up(i) <=> up(i % 10 + 1)    for i in Place
    weight 0.3: up(1)
    query up(5)
"""
GRID = """
    type Row = 1..13
    random up(Row, Row)
    weight 0.5: up(i, j) <=> up(i, j + 1)   for i in Row, j in Row if j < 13
    weight 0.3: up(i, j) <=> up(i + 1, j)   for i in Row, j in Row if i < 13
    weight 0.1: up(i, j)                    for i in Row, j in Row if i * j % 7 = 3
    query up(7, 7)
"""

model = plx.compile(RING)
exact = model.run(method="exact")["up(5)"]
for method in ("gibbs", "lifted", "orbital", "vv", "nec", "mcsat"):
    sampled = model.run(method=method, seed=1)["up(5)"]
    assert abs(sampled.probability - exact.probability) < 4.5 * sampled.mcse + 1e-12, method
assert plx.compile(RING.replace("weight 0.3: up(1)", "")).symmetries().order >= 20
assert Kernel.steps_left < 1e6
grid = plx.compile(GRID).run(method="exact")["up(7, 7)"]
assert 0.5 < grid.probability < 1
print(f"compiled code agrees: {exact.probability:.6f}, {grid.probability:.6f}")
