# Queries, evidence and arguments that are random.
type Person = {anna, bob}
random age(Person): 0..3
random father(Person): Person
random happy(Person)
define old(x: Person) = age(x) > 2

query age(father(anna))                           ### "an argument of `age` must be fixed, but `father` is random"
query old(father(anna))                           ### "`old` uses an argument as an index; it must be fixed, but `father` is random"
query happy(anna) as one
query happy(bob) as one                           ### "two queries are called `one`"
query happy(x) for x in Person given age(y) = 1   ### "`y` is no member of Person"
query (age(anna), nobody)                         ### "`nobody` is neither bound"
observe age(anna) = 9                             ### "`9` is no value of `age(anna)`"
observe happy(carl)                               ### "`carl` is no member of Person"
require count(happy(x) for x in Person)           ### "a formula (true or false) is expected here, this is a number"
