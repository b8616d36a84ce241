# An epidemic on a network: who brought it, and who has it now?
#
# One person was ill on day 0. Each day the ill pass it on to each contact with probability 0.3, and get over it
# with probability 0.2, for good. contacts.csv is the network; the tests of tests.csv are right nine times in
# ten.
#
# What to expect: dov, between the two who tested positive, brought it with probability 0.296517, ann with
# 0.053815. On day 5 fred is ill with 0.673411, and ben, who tested negative, with 0.073074; 4.35191 people were
# reached in the mean.

type Person = {ann, ben, cat, dov, eve, fred}
type Day = 0..5
type State = {well, ill, over}
relation meets(a: Person, b: Person) from "contacts.csv"
relation contact(x: Person, y: Person) = meets(x, y) | meets(y, x)

define was(x: Person, d: Day, s: State) = state(x, d - 1) = s

random source: Person ~ uniform
random exposed(x: Person, d: Day) ~ noisy_or(
    0, 0.3: was(y, d, ill) for y in Person if contact(x, y)
) if d > 0
random state(x: Person, d: Day): State ~ {well: source != x, ill: source = x, else: 0}
    if d = 0 else {
        well: was(x, d, well) & !exposed(x, d),
        ill: 0.8 * was(x, d, ill) + (was(x, d, well) & exposed(x, d)),
        over: was(x, d, over) + 0.2 * was(x, d, ill)
    }
random positive(person: Person, day: Day) ~ 0.1 + 0.8 * (state(person, day) = ill)

observe positive from "tests.csv"

query source
query state(x, 5) for x in Person
query count(state(x, 5) != well for x in Person) as reached
query logz
