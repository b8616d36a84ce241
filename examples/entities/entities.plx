# Entity resolution: which records speak of the same person?
#
# alike.csv lists the pairs that may be of one person, with a score: the log odds that their names alone would
# give. A rule joins pairs to triangles, for "the same as" is transitive: of the three pairs in one, exactly two
# cannot be the same. Somebody has looked at r1 and r4, which are two people.
#
# What to expect: the scores alone would say 0.4013 for r2 and r3; but both resemble r1, so it is 0.5561. And r2
# is hardly r4, with 0.036 in place of 0.2315, as r1 is not. The most probable world has {r1, r2, r3}, r4 and
# {r5, r6, r7}.

type Record from "people.csv" columns (id)
relation candidate(a: Record, b: Record) from "alike.csv" columns (first, second)
param score(a: Record, b: Record) from "alike.csv" columns (first, second, score) else 0

random same(a: Record, b: Record) if candidate(a, b)

weight score(a, b): same(a, b) for (a, b) in candidate
require !exactly(2, same(x, y) for x, y in {a, b, c} if x < y)
    for (a, b) in candidate, (b, c) in candidate, (a, c) in candidate

observe same from "checked.csv"

query same(a, b) for (a, b) in candidate
query same("r2", b) as if_r1_is_not_r2 for ("r2", b) in candidate given !same("r1", "r2")
query count(same(a, b) for (a, b) in candidate) as pairs
query map
