# A sudoku: which digits are left, once the clues are there?
#
# Rows, columns and boxes have each digit once. What must hold is said, and the clues are observed.
#
# What to expect: the clues leave one world, so every answer is certain. A solver of hard rules finds it and
# proves that it is alone; the answers are exact, and log Z is 0. Its first row is 2 8 3 5 9 4 6 7 1.

type Digit = 1..9
relation clue(row: Digit, column: Digit, digit: Digit) = {
    (1, 1, 2), (1, 5, 9), (1, 6, 4), (2, 3, 7), (2, 4, 3), (3, 1, 6), (3, 6, 1), (3, 7, 3),
    (5, 4, 7),
    (5, 9, 5), (6, 3, 2), (6, 6, 3), (6, 9, 6), (7, 4, 6), (7, 5, 3), (7, 6, 9), (7, 7, 4),
    (7, 8, 1),
    (8, 3, 9), (8, 9, 8), (9, 2, 3), (9, 4, 8), (9, 5, 4), (9, 6, 2), (9, 8, 6), (9, 9, 9)
}
random cell(row: Digit, column: Digit): Digit

require alldifferent(cell(r, c) for c in Digit)           for r in Digit
require alldifferent(cell(r, c) for r in Digit)           for c in Digit
require alldifferent(cell(r + i, c + j) for i, j in 0..2) for r, c in {1, 4, 7}

observe cell(r, c) = d for (r, c, d) in clue

query cell(1, c) for c in Digit
query map
