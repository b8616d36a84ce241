# `learn` is no reserved word, nor are the words of priors.
type Person = {anna, bob}
type normal = {flat, laplace}
random learn(Person): normal
param peer = 1
learn base = 0.25 ~ flat
learn effect(x: Person) = {anna: 1, else: -1/2} ~ laplace(0, 2)
define strength(x: Person) = 2 * effect(x) - base / 4
weight strength(x) + log(2): learn(x) = flat for x in Person
factor -effect(anna) * count(learn(x) = laplace for x in Person) / 10
query learn(bob)
