# A Potts model: a grid whose cells like to have the colour of their neighbours.
#
# Six by six cells, three colours, one corner seen to be red.
#
# What to expect: the cell beside the corner is red with probability 0.5493, the far corner with 0.3348,
# little more than 1/3. The other two colours are equally likely everywhere.

param n = 6
param coupling = 0.8

type Line = 1..n
type Colour = {red, green, blue}

random colour(Line, Line): Colour

weight coupling: colour(r, c) = colour(r + 1, c) for r, c in Line if r < n
weight coupling: colour(r, c) = colour(r, c + 1) for r, c in Line if c < n

observe colour(1, 1) = red

query colour(1, 2)
query colour(n, n)
query colour(3, 3) = colour(4, 4) as alike
query count(colour(r, c) = red for r, c in Line) as reds
