# Blood groups in a family: what may the baby have?
#
# Everybody has two alleles, one from each parent, who passes on either of two with probability 1/2. A and B
# show over O, and with each other. family.csv is the family tree, and tested.csv the groups of five who were
# tested.
#
# What to expect: the baby is A with probability 0.401887, B with 0.283962, AB with 0.158491 and O with 0.15566. Ben
# was not tested, but has a child of group A with anna, who is O: he is A with 0.94717, else AB.

type Person = {anna, ben, finn, ida, dora, emil, gus, hedy, jon, baby}
type Side = {mother, father}
type Allele = {A, B, O}
type Group = {A, B, AB, O}
relation parent(child: Person, side: Side, parent: Person) from "family.csv"
relation tested(person: Person, group: Group) from "tested.csv"
param frequency(Allele) = {A: 0.28, B: 0.07, O: 0.65}
param group(Allele, Allele) = {
    (A, A): A, (A, O): A, (O, A): A, (B, B): B, (B, O): B, (O, B): B, (O, O): O, else: AB
}
define founder(x: Person) = !exists(true for (x, _, _) in parent)
define passed_on(x: Person, s: Side, a: Allele) = count(
    gene(p, t) = a for (x, s, p) in parent, t in Side
) / 2

random gene(x: Person, s: Side): Allele ~ frequency if founder(x) else passed_on(x, s)
define blood(x: Person) = group(gene(x, mother), gene(x, father))

observe blood(x) = g for (x, g) in tested

query blood(x) for x in Person
query gene(hedy, mother)
query logz
