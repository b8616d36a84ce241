# Every construct of the language, alone and combined, in an order that declares things after their use.
query map
query map 3
query logz
query logz given coin
query both as joint
query (coin, level(anna)) given coin
query passed(s, a) for s in Student, a in Area if a < systems given coin, passed(s, theory) != fail
query exists(passed(s, a) != fail for s in Student) for a in Area
query count(exists(likes(x, y) for y in Person) for x in Person)
query sum(level(x) for x in Person if x != anna) as total
query level(anna) + 2 * level(bob) - steps
define both = coin & !coin
define breadth(s: Student, a: Area, b: Area) = passed(s, a) != fail & passed(s, b) != fail
weight -leniency(s): passed(s, a) = fail for s in Student, a in Area
weight 1.2: breadth(s, a, b) for s in Student, a, b in Area if a < b
weight log(3/2) + w: coin xor coin <=> coin
factor -0.3 * abs(level(x) - level(y)) for (x, y) in friends
factor 2 ^ level(x) / 3 for x in lonely if x in {anna, bob} or x not in lonely
require count(exists(likes(x, y) for y in Person) for x in Person) >= 2 => coin
require 0 <= level(x) < steps for x in Person
require forall(likes(x, y) => likes(y, x) for x, y in Person if !(x = y))
observe passed(s01, theory) = logic
observe !likes(anna, bob)
observe likes(bob, anna) = true
observe coin = (level(anna) = 2)
weight w * count(friends(x, y) for y in Person): level(x) = nearest(x) for x in Person
weight 1: older(x, y) & meets(x, y) for x, y in Person if x < y
weight 0.5: choice(n) in (Below(n) | {top}) for n in Step
weight 1: colour = red
weight 1: "New York" = home
weight 1: room(a, c) = c for a in Area, c in Course(a)
weight min(1, w, 3) - max(abs(-w), sqrt(4), exp(0), logit(1/2)): coin

type Student = s01..s12
type Area = {theory, systems, ai}
type Course(Area) = {theory: {logic, sets}, systems: Course2(systems) | {db}, else: {}}
type Course2(Area) = {systems: {os}, else: {}}
type Grade(a: Area, c: Course(a)) = {(theory, logic): 1..2, else: {0}}
type Person = {anna, bob, "Zoë 2nd", 李雷, None, int, lambda}
type Step = 0..steps - 1
type Below(n: Step) = 0..n
type Place = {"New York", "O'Brien-1"}

param steps = 4
param w = log(3/2)
param leniency(Student) = {s01: 0.2, s02: 1.5, else: 0.7}
param d(i: Step, j: Step) = abs(i - j)
param nearest(Person) = {anna: steps - 1, else: d(3, 1)}
param colour = red
relation friends(Person, Person) = {(anna, bob), (bob, None), (bob, None)}
relation lonely(Person) = {anna}
relation sunny() = true
relation older(x: Person, y: Person) = x < y & x != anna
random coin
random level(Person): Step
random likes(Person, Person)
random meets(x: Person, y: Person) if x < y & sunny()
random passed(s: Student, a: Area): {fail} | Course(a)
random choice(n: Step): Below(n) | {top}
random home: Place
random room(a: Area, c: Course(a)): {c, hall, "hall 2"}
random paint: {red, green}
random mark(a: Area, c: Course(a)): Grade(a, c)
