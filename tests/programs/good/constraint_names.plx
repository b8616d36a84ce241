# The words of constraints are names where they take no `for`.
type alldifferent = {at_least, b}
random exactly(alldifferent)
param at_most(alldifferent) = {at_least: 1, else: 2}
weight at_most(x): exactly(x) for x in alldifferent if at_most(x) > 1
weight 1: exactly(at_least) & at_least(1, exactly(x) for x in alldifferent)
query exactly(b)
