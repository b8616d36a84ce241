# A curriculum: which courses do students pass, and how many are broad enough to graduate?
#
# Every student takes one course per area and passes it or fails. The courses to choose from depend
# on the area, so the unknowns have domains of different sizes. Passing two areas helps (breadth), and
# failing is unlikely. Two grades of s1 and one of s2 are known.
#
# What to expect: s1, who failed systems, passes each of the four courses of ai with probability 0.2198.
# A student of whom nothing is known is broad with probability 0.9769, or 0.8278 after failing theory;
# s2 with 0.9988. All twenty are with 0.5765.

type Student = s1..s20
type Area = {theory, systems, ai}
type Course(Area) = {theory: {logic, sets}, systems: {os, db, nets}, ai: {ml, nlp, vision, robots}}

param leniency(Student) = {s1: 0.2, s2: 1.5, else: 0.7}

random passed(s: Student, a: Area): {fail} | Course(a)

define broad(s: Student) = count(passed(s, a) != fail for a in Area) >= 2

weight -leniency(s): passed(s, a) = fail                for s in Student, a in Area
weight 0.4: passed(s, a) != fail & passed(s, b) != fail for s in Student, a, b in Area if a < b

observe passed(s1, theory) = logic
observe passed(s1, systems) = fail
observe passed(s2, theory) = sets

query passed(s1, ai)
query broad(s) for s in {s2, s3}
query count(broad(s) for s in Student) as graduates
query (passed(s3, theory), passed(s3, systems))
query broad(s3) given passed(s3, theory) = fail
