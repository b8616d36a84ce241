# Image denoising: what did a picture look like, of which a scan flipped some pixels?
#
# A letter on nine by nine pixels, each flipped with probability 0.12: scanned.csv has those that came out black,
# drawn with seed 6. Neighbours tend to have one colour, which is all that is known of pictures.
#
# What to expect: nine pixels of the scan are wrong, and five of what is likelier black than white. The hole at
# (6, 5) is filled with 0.71027, and lone specks such as (5, 9) go, with 0.467175; two that touch stay. In the
# mean 8.45205 pixels were flipped.

param n = 9
param flipped = 0.12
type Line = 1..n

random black(row: Line, column: Line)
random scanned(row: Line, column: Line) ~ flipped + (1 - 2 * flipped) * black(row, column)

weight 0.8: black(r, c) = black(r + 1, c) for r, c in Line if r < n
weight 0.8: black(r, c) = black(r, c + 1) for r, c in Line if c < n

observe scanned from "scanned.csv" else false

query black(r, c) for r, c in Line
query count(black(r, c) != scanned(r, c) for r, c in Line) as flips
query map black(r, c) for r, c in Line
