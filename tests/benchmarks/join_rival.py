"""``python join_rival.py FACTS.npy SQL…``: seconds that DuckDB takes for each query, and its count, as JSON.

Run by an interpreter that has duckdb, on one thread; it knows nothing of plx.
"""

from __future__ import annotations

import json
import sys
import time

import duckdb
import numpy as np


def main(path: str, *queries: str) -> None:
    """Facts [n, 2] become the table e(x, y)."""
    facts = np.load(path)
    found = {"x": facts[:, 0].copy(), "y": facts[:, 1].copy()}
    connection = duckdb.connect()
    connection.execute("set threads = 1")
    connection.register("found", found)
    connection.execute("create table e as select * from found")
    out = []
    for query in queries:
        begin = time.process_time()
        (row,) = connection.execute(query).fetchall()
        out.append((time.process_time() - begin, row[0]))
    sys.stdout.write(json.dumps(out))


if __name__ == "__main__":
    main(*sys.argv[1:])
