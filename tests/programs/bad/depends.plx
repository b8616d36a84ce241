# Domains that depend on the index.
type Area = {theory, systems}
type Course(Area) = {theory: {logic, sets}, systems: {os, db}}
type Exam(a: Area, c: Course(a)) = {(theory, logic): {e1}, (theory, os): {e2}, else: {}}   ### "`os` is no member of Course(a)"
random passed(a: Area): {fail} | Course(a)
random none(a: Area): Lab(a)                      ### "its domain is empty" "at systems"
type Lab(Area) = {theory: {l1}, systems: {}}
random mark(a: Area, c: Course(a)): 1..5

weight 1: passed(theory) = os                     ### "`os` is no value of `passed(theory)`" "its values: fail, logic, sets"
weight 1: mark(systems, sets) = 3                 ### "`sets` is no member of Course(a)"
weight 1: passed(a) = e1 for a in Area            ### "`e1` is no value of `passed(a)`" "its values: fail, logic, sets, os, db"
weight 1: passed(logic) = fail                    ### "`logic` is no member of Area"
weight 1: passed(a) = l1 for a in Area            ### "`l1` is no value of `passed(a)`"
