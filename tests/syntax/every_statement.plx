# Every statement, every clause and every form of expression.
type Student = s1..s30
type Area = {theory, systems, ai}
type Course(Area) = {theory: {logic, sets}, systems: {os, db, nets}, ai: {ml}}
type Level = 0..4
type City = {"New York", 東京, Zoë}
type Person
type Town from "towns.csv"
type Street from "towns.tsv" columns ("the street")
type Shop from "town.db" table "the shops" columns (name)

param w = log(3/2)
param leniency(Student) = {s1: 0.2, s2: 1.5, else: -0.7e-1}
param distance(i: Level, j: Level) = abs(i - j)
param cost(Area) from "cost.csv"
param far(a: Town, b: Town) from "far.csv" columns (a, b, km) else -1

learn base
learn effect = -0.5 ~ flat
learn peer(Person) = {anna: 1, else: 0} ~ normal(0, 1)
learn pull(x: Person) from "pull.csv" else 0 ~ laplace(0, 1/2)

relation friends(Person, Person) = {(anna, bob), (bob, anna)}
relation likes(Person, Course) from "likes.csv"
relation sells(Shop, Person) from "town.db" sql "select shop, \"who\" from sales where n > 1"

random rain
random smokes(Person)
random passed(s: Student, a: Area): {fail} | Course(a)
random meets(x: Person, y: Person) if x < y
random level(x: Person): Level if x not in {anna}
random umbrella ~ 0.2 + 0.5 * rain
random mood(x: Person): {good, bad} ~ {good: 0.7, else: 0.3} if x = anna else uniform if x != bob
random alarm ~ noisy_or(0.01, 0.9: rain, leniency(s): passed(s, ai) = fail for s in Student if s < s3)
random score: Level ~ softmax(distance(2))

define breadth(s: Student, a: Area, b: Area) = passed(s, a) != fail & passed(s, b) != fail

weight -leniency(s): passed(s, a) = fail for s in Student, a in Area
weight 1.2: breadth(s, a, b) for s in Student, a, b in Area if a < b
weight w^2 / 3 % 2: (smokes(x) <=> smokes(y)) xor rain => !rain or not smokes(x) for (x, y) in friends
factor -0.3 * abs(level(x) - level(y)) for (x, y) in friends if 0 <= level(x) < 4
weight 1: smokes(x) => smokes(z) for (x, y) in friends, (y, z) in friends, (anna, _) in friends

require forall(exists(passed(s, a) in Course(a) for a in Area) for s in Student)
require count(smokes(x) for x in Person) >= 2
require alldifferent(level(x) for x in Person if x != anna)
require exactly(2, smokes(x) for x in Person) or at_most(level(bob), meets(x, y) for x, y in Person if x < y)

observe passed(s1, theory) = logic
observe !smokes(x) for x in Person if x == anna
observe smokes from "seen.csv"
observe rested from "seen.csv" columns (name, rested) else false
observe level = {anna: 3, else: 0}

query passed(s1, ai)
query breadth(s, theory, ai) as broad for s in Student if s != s1 given rain, passed(s1, ai) = ml
query (smokes(anna), rain)
query sum(level(x) for x in Person) as total
query map
query map 5
query map smokes(x) for x in Person
query map 3 up given smokes(anna)
query logz
