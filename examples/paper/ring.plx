# The ring of Anand, Noothigattu, Singla & Mausam (AISTATS 2017), values renamed at random.
#
# Women and men stand in a ring by turns, and each passes on a bit. Who holds 1 makes the next hold 1,
# a man with weight 1.2 and a woman with 1.9. But in half of the places, picked by an irregular rule, the two
# values have changed names. So no two people are interchangeable, and yet all men are alike, and all
# women, once values are renamed: the group of variable-value symmetries has as many elements as there
# are people.
#
# What to expect: before renaming, a man holds 1 with probability 0.5398 and a woman with 0.4602, and so
# in larger rings. After it, half of them hold 0 that often.
#
# The paper's size: plx compare examples/paper/ring.plx --bind n=1000 --methods gibbs,orbital,vv,lifted

param n = 20  # people, an even number

type Place = 0..n - 1
param renamed(i: Place) = (i * i * i * 7919 + i * 4561) % 1009 % 2 = 1

random bit(Place)

define holds(i: Place) = bit(i) xor renamed(i)

weight 1.2: holds(i) => holds((i + 1) % n) for i in Place if i % 2 = 0
weight 1.9: holds(i) => holds((i + 1) % n) for i in Place if i % 2 = 1

query bit(i) for i in Place
