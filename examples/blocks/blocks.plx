# A stochastic block model: into which two groups does a club fall, by who talks to whom?
#
# Members of one group often talk, members of two seldom; how often is unknown too. talks.csv has the pairs
# that were seen talking, drawn with seed 3 from 0.7 and 0.15.
#
# What to expect: all twelve are put where they belong, m07 on the left with probability 0.987802 and m05 on the
# right with 0.98832; least sure are m03, on the right with 0.738247, and m04, on the left with 0.775704.
# Members of one group talk most likely six times in ten, 0.433168, of two groups once, 0.64376.

type Member = m01..m12
type Group = {left, right}

random group(Member): Group ~ uniform
random within: 1..9 ~ uniform  # of ten
random across: 1..9 ~ uniform  # of ten

define alike(x: Member, y: Member) = group(x) = group(y)
random talks(x: Member, y: Member) ~ (within * alike(x, y) + across * (!alike(x, y))) / 10 if x < y

observe talks from "talks.csv" else false
observe group(m01) = left
require across < within

query group(x) for x in Member
query within
query across
