# Link prediction: who will get to know whom?
#
# Whoever knows somebody in common is likely to meet, and more so for each one they share: a rule over two hops,
# which joins the facts with themselves. Having met one of two friends makes it likely to meet the other.
#
# What to expect: bob and eva share two acquaintances, and so do cleo and dan; both pairs meet with probability
# 0.598688. anna and eva share nobody: 0.07488, and 0.174075 once anna has met cleo, who knows eva.

type Person = {anna, bob, cleo, dan, eva}

relation met(Person, Person) = {(anna, bob), (bob, cleo), (bob, dan), (cleo, eva), (dan, eva)}
relation know(x: Person, y: Person) = met(x, y) | met(y, x)

random meet(x: Person, y: Person) if x < y & (x, y) not in know

weight -2: meet(x, z)  for x, z in Person if x < z & (x, z) not in know
weight 1.2: meet(x, z) for (x, y) in know, (y, z) in know if x < z & (x, z) not in know
weight 0.7: meet(x, y) => meet(x, z)
    for x in Person, (y, z) in know if x < y & x < z & (x, y) not in know & (x, z) not in know

query meet(x, z) for x, z in Person if x < z & (x, z) not in know
query count(meet(anna, z) for z in Person if z != anna & (anna, z) not in know) as met_by_anna
query meet(anna, eva) given meet(anna, cleo)
