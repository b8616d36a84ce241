# A message goes around a ring of friends, one bit of it at a time.
#
# Everybody hears the bit of the neighbour and usually repeats it. But some write 1 where their
# neighbour writes 0: they use the other name for the same thing. No two people in this ring are
# interchangeable, and yet renaming the values of some makes all of them alike: that is a
# variable-value symmetry, which `plx symmetries` finds.
#
# What to expect: bit(0) was seen to be true. bit(1) is true with probability 0.9026, bit(2) with 0.8253:
# it falls towards 1/2 with the distance, and beyond an odd number of renamings it is below 1/2, as for
# bit(4) with 0.2836.

param n = 20
param noise = log(9)  # a bit is nine times more likely repeated well than badly

type Place = 0..n - 1
relation renamed(Place) = {3, 7, 8, 15, 16, 19}

random bit(Place)

weight noise: bit(i) = bit((i + 1) % n)  for i in Place if not renamed(i)
weight noise: bit(i) != bit((i + 1) % n) for i in Place if renamed(i)

observe bit(0)

query bit(i) for i in Place
query bit(10) given bit(9)
query bit(5) xor bit(6) as odd_neighbours
