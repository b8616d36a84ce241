# A crossword: which words fit, where the clues alone do not say?
#
# guesses.csv has words for each clue, with how likely they are before anything is crossed; `other` is a word that
# nobody thought of. Crossing words share a letter, and an unknown word matches by chance, one time in 12.
#
# What to expect: alone, "stars" and "apple" are the best guesses; crossed, it is comet with 0.996069 and melon with
# 0.9916. Turin, siena and genoa all clash with what crosses them: across4 is another town, with 0.999593.

type Slot = {across1, across4, across5, down1, down2, down3}
type Guess(slot: Slot) from "guesses.csv" columns (slot, word)
type Place = 1..5
param likely(slot: Slot, word: Guess) from "guesses.csv" columns (slot, word, p) else 0
param letter(word: Guess, place: Place) from "letters.csv"
relation crosses(across: Slot, i: Place, down: Slot, j: Place) = {
    (across1, 1, down1, 1), (across1, 3, down2, 1), (across1, 5, down3, 1),
    (across4, 1, down1, 3), (across4, 3, down2, 3), (across4, 5, down3, 3),
    (across5, 1, down1, 5), (across5, 3, down2, 5), (across5, 5, down3, 5)
}

random word(s: Slot): Guess(s)

factor log(likely(s, word(s)))                      for s in Slot
weight log(1/12): word(a) = other | word(d) = other for (a, i, d, j) in crosses
require word(a) = other | word(d) = other | letter(word(a), i) = letter(word(d), j)
    for (a, i, d, j) in crosses

query word(s) for s in Slot
query map word(s) for s in Slot
