# A conditional random field: what is each word of a recipe for?
#
# words.csv has four lines, word by word. What a word is speaks for a label, and so does the label before it. The
# words are all known, so nothing needs to be said of how likely they are.
#
# What to expect: "cloves" is a unit in "3 cloves garlic crushed", with 0.879643, and a food in "1 teaspoon
# ground cloves", with 0.644948: the word before it decides. "an" in "half an onion chopped" is part of the
# amount, 0.621235.

type Line = 1..4
type Position = 1..4
type Word from "words.csv" columns (word)
type Label = {amount, unit, food, how}
relation words(line: Line, position: Position, word: Word) from "words.csv"
relation amounts(Word) = {1, 2, 3, "half", "an"}
relation units(Word) = {"cups", "cloves", "teaspoon"}
relation preparations(Word) = {"crushed", "ground", "chopped"}
param follows(Label, Label) = {
    (amount, unit): 1, (amount, food): 1, (unit, food): 2, (unit, how): 1, (food, how): 2,
    (food, food): 0.5,
    (how, food): 2, (how, amount): -2, (how, unit): -2, else: 0
}

random label(l: Line, p: Position): Label if exists(true for (l, p, _) in words)

weight 3: label(l, p) = amount for (l, p, w) in words if w in amounts
weight 2: label(l, p) = unit   for (l, p, w) in words if w in units
weight 3: label(l, p) = how    for (l, p, w) in words if w in preparations
weight 2: label(l, p) = food
    for (l, p, w) in words if w not in amounts & w not in units & w not in preparations
factor follows(label(l, p), label(l, p + 1)) for (l, p, _) in words, (l, p + 1, _) in words

query label(l, p) for (l, p, _) in words
query map label(l, p) for (l, p, _) in words
