# Friends and smokers, the best known Markov logic network.
#
# Who smokes is unknown, and so is who is a friend of whom. Smoking is likely, and friends of smokers smoke.
# Each rule holds for every pair, a person and themselves included.
#
# What to expect: without anything seen, each of the five smokes with probability 0.937859. It
# is the same for all, for nothing tells them apart.

type Person = {anna, bob, cleo, dan, eva}

random smokes(Person)
random friends(Person, Person)

weight 1.4: smokes(x)                              for x in Person
weight 1.1: friends(x, y) & smokes(x) => smokes(y) for x, y in Person

query smokes(x) for x in Person
query friends(anna, bob)
query count(smokes(x) for x in Person) as smokers
query smokes(anna) given !smokes(bob), friends(bob, anna)
