# Who has the flu? A program fed from CSV files that stand beside it.
#
# people.csv lists the people, risk.csv how likely each is to catch it outside, contacts.csv who
# met whom, and tests.csv the results of quick tests, which miss one case in five and are wrong for
# one healthy person in twenty.
#
# What to expect: Ben and Cara tested positive and have it with probability 0.9398 and 0.97. So has Dev, who
# met both, with 0.7802, while Eli, who met Dev but tested negative, has it with 0.0766.

type Person from "people.csv"
param risk(Person) from "risk.csv"
relation met(a: Person, b: Person) from "contacts.csv"

random flu(Person)
random positive(Person)

weight logit(risk(x)): flu(x)            for x in Person
weight 1.8: flu(x) & flu(y)              for (x, y) in met
weight log(0.80): flu(x) & positive(x)   for x in Person
weight log(0.20): flu(x) & !positive(x)  for x in Person
weight log(0.05): !flu(x) & positive(x)  for x in Person
weight log(0.95): !flu(x) & !positive(x) for x in Person

observe positive from "tests.csv"

query flu(x) for x in Person
query count(flu(x) for x in Person) as ill
