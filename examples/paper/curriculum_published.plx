# Student curriculum, in the version that the published runs of the paper used.
#
# It differs from the paper's text: a Boolean unknown per student and pair of areas tells whether the
# student's requirement was waived for them, and the rule is a clause that a waiver, or failing
# in one of the two, makes true. Both orders of a pair have one, and an area with itself too, which
# no rule mentions. The published instances are sc_10_5 (10 students, 5 areas) and sc_20_10.
#
# What to expect: student 1 fails in the first area with probability 0.9017, and in the fifth, which has
# five courses, with 0.6143. Areas 4 and 5 are required of student 1 with 0.4746, an area with itself, which
# no rule mentions, with 0.5.
#
# The larger one: plx compare examples/paper/curriculum_published.plx --bind students=20 --bind areas=10

param students = 10
param areas = 5

type Student = 1..students
type Area = 1..areas

param leniency(s: Student) = 1 + (s * s * 7919 + s * 4561) % 1009 / 1009

random passed(s: Student, a: Area): 0..a       # 0: none
random required(s: Student, a: Area, b: Area)  # false: waived

weight leniency(s): passed(s, a) = 0 for s in Student, a in Area
weight 1.2: !required(s, a, b) | passed(s, a) = 0 | passed(s, b) = 0
    for s in Student, a, b in Area if a != b

query passed(s, a) for s in Student, a in Area
query required(s, a, b) for s in Student, a, b in Area
