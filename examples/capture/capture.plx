# Capture and recapture: how many newts live in a pond, most of which nobody has seen?
#
# On four nights newts were caught, marked and let go; caught.csv says who was caught when, drawn with seed 2
# from 24. There may be up to forty. What share of these lives there, and how easily a newt is caught, is
# unknown.
#
# What to expect: fourteen were seen, and 19.8512 live there in the mean, most likely 17, with 0.118988. A newt
# is caught in three nights of ten with 0.503495. One that was never seen lives there with 0.225046.

type Newt = n1..n40
type Night = 1..4

random share: 0..20 ~ uniform  # of twenty
random ease: 1..9 ~ uniform    # of ten
random lives(Newt) ~ share / 20
random caught(newt: Newt, night: Night) ~ ease / 10 * lives(newt)

observe caught from "caught.csv" else false

query count(lives(n) for n in Newt) as newts
query ease
query lives(n40)
