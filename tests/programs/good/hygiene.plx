# Names that meet: variables, slots and symbols with the names of other things.
type T = {a, b, x, w}
param w(T) = {w: 1, x: 2, else: 0}
random f(T)
random g(x: T): {x, none}
define some(y: T) = exists(f(x) & x != y for x in T)
define twice(x: T) = some(x) & exists(some(y) for y in T if y != x)
weight w(x): twice(x) for x in T
weight w(w): f(w) & f(x)
weight 1: twice(y) for y in T
query count(some(x) for x in T) given twice(a)
weight 1: exists(f(a) & i < 3 & i = 2 for i in 1..0) | f(b)
factor sum(i * 2 for i in 1..0)
