# Types, tables and domains.
type Empty = {}                                   ### "the type `Empty` is empty"
type Nobody                                       ### "the type `Nobody` has no members" "Nobody=[…]"
type Twice = {a, b, a}                            ### "`a` is listed twice"
type Person = {anna, bob, carl, dora}
type Person = {eve}                               ### "`Person` is declared twice"
type Down = s9..s1                                ### "the type `Down` is empty"
type Run = s1..t9                                 ### "the ends of a run differ in their final number only"
type Padded = s01..s100                           ### "both ends need as many digits"
type Huge = 1..100000000                          ### "more than 5,000,000 members; give larger types as data"
type Area = {theory, systems}
type Course(Area) = {theory: {logic}}             ### "`Course` has no entry for systems"
type Lab(Area) = {theory: {l1}, systems: {l2}, biology: {l3}}   ### "`biology` is no member of Area"
type Half = 0..1/2                                ### "the ends of a range are integers, not 0.5"
type Fraction = 5                                 ### "a set is expected here"

param one(Person) = {anna: 1, bob: 2}             ### "`one` has no entry for carl; dora"
param two(Person) = {anna: 1, anna: 2, else: 0}   ### "`two` has two entries for anna"
param three(Person) = {anna: 1, eva: 2, else: 0}  ### "`eva` is no member of Person"
param four(Person) = {anna: 1/0, else: 0}         ### "division by zero"
param five = 1/(2 - 2)                            ### "division by zero"
param six                                         ### "the param `six` has no value"
param seven(Person) = {(anna, bob): 1, else: 0}   ### "an index of `seven` has 1 part, this one has 2"
param eight = log(0)                              ### "the logarithm of a number that is not positive"
param nine(Person) = {anna, bob}                  ### "write `index: value`"  "write `index: value`"
param ten = coin                                  ### "params must be fixed, but `coin` is random"
param eleven = {anna: 1}                          ### "`eleven` has no slots"
param twelve(x: Person, x: Person) = 1            ### "two slots are called `x`"
param thirteen(Persn) = 1                         ### "there is no type `Persn`" "did you mean `Person`"

relation friends(Person, Person) = {(anna, bob), (anna, theory)}   ### "`theory` is no member of Person"
relation likes(Person, Person) = {(anna, bob, carl)}   ### "an index of `likes` has 2 parts, this one has 3"
relation missing(Person)                          ### "the relation `missing` has no facts"

random coin
random big: 0..70000                              ### "at most 65,535 are possible"
random nothing: {}                                ### "its domain is empty"
random some(a: Area): Lab(a)
random guarded(x: Person) if coin                 ### "guards must be fixed, but `coin` is random"
random less(x: Person): Level                     ### "there is no type `Level`"

define loop(x: Person) = coin & hoop(x)           ### "`loop` is defined by itself: loop → hoop → loop"
define hoop(x: Person) = coin | loop(x)
define self = !self                               ### "`self` is defined by itself"
