# Eight queens: in how many ways can they stand, so that none attacks another one?
#
# One stands in each column, so the row of each is all that is unknown. Rows differ, and so do the sums and the
# differences of row and column, which number the diagonals.
#
# What to expect: 92 ways, so log Z is log 92 = 4.52179. A queen is in the corner in 4 of them, and stands on
# a square of the centre in 8: 0.0434783 and 0.0869565.

type Line = 1..8
random row(column: Line): Line

require alldifferent(row(c) for c in Line)
require alldifferent(row(c) + c for c in Line)
require alldifferent(row(c) - c for c in Line)

query row(1) = 1 as corner
query row(4) = 4 as centre
query row(1)
query logz
