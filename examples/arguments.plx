# Argumentation: which arguments stand, where they attack one another?
#
# Shall the market square be closed to cars? An argument is accepted if all that attack it are rejected, and
# rejected if one that attacks it is accepted; else it is undecided (complete labellings, Dung 1995). Two
# sources deserve more trust, which makes the views that accept them likelier.
#
# What to expect: nine consistent views. The most probable one closes the square, with log weight 1.7, but over
# all of them that is accepted with probability 0.281993 only, and rejected with 0.410519. Once there is a grant
# it depends on the study alone: accepted with 0.451863.

type Argument = {
    close, shops_lose, study_says_no, study_is_old, no_parking, bus, bus_costs, grant, no_grant
}
type Label = {accepted, rejected, undecided}
relation attacks(Argument, Argument) = {
    (shops_lose, close), (study_says_no, shops_lose), (study_is_old, study_says_no),
    (study_says_no, study_is_old), (no_parking, close), (bus, no_parking), (bus_costs, bus),
    (grant, bus_costs), (no_grant, grant), (grant, no_grant)
}
param trust(Argument) = {study_says_no: 0.5, grant: 1.2, else: 0}

random label(Argument): Label

require label(a) = accepted <=> forall(label(b) = rejected for (b, a) in attacks) for a in Argument
require label(a) = rejected <=> exists(label(b) = accepted for (b, a) in attacks) for a in Argument
weight trust(a): label(a) = accepted for a in Argument if trust(a) != 0

query label(a) for a in Argument
query label(close) given label(grant) = accepted
query map
