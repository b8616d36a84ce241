# A ranking from duels: which soup is best, where the judges disagree?
#
# Six soups were tasted in pairs, and duels.csv says how often the first was liked better than the second. Each
# such vote makes the orders in which it comes first twice as likely; the answers are over all 720 orders.
#
# What to expect: fish is best of all with probability 0.26163, just ahead of pea with 0.241365, which beat
# it once. Carrot is last with 0.359742. If bean is not first, fish is with 0.339259.

type Soup = {bean, carrot, fish, lentil, onion, pea}
type Place = 1..6
param votes(better: Soup, worse: Soup) from "duels.csv" else 0

random place(Soup): Place

require alldifferent(place(s) for s in Soup)
weight votes(a, b) * log(2): place(a) < place(b) for a, b in Soup if votes(a, b) > 0

query place(s) for s in Soup
query place(s) = 1 as first for s in Soup
query place(fish) = 1 given place(bean) > 1
query map place(s) for s in Soup
