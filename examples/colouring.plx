# Colouring a map: in how many ways can neighbours differ, and how few colours will do?
#
# The countries of South America, with four colours. All colourings that keep the rule are equally likely, so log Z
# is the log of how many there are.
#
# What to expect: 9,216 colourings, so log Z is 9.1287. Brazil and Chile have one colour in two thirds of them,
# 0.666667, Ecuador and Venezuela in 0.25. Grey is never missing: Argentina, Bolivia, Brazil and Paraguay all
# touch, so three colours are not enough, and plx says so of `observe colour(c) != grey for c in Country`.

type Country = {
    argentina, bolivia, brazil, chile, colombia, ecuador, french_guiana, guyana, paraguay, peru,
    suriname, uruguay,
    venezuela
}
type Colour = {ochre, teal, plum, grey}
relation border(Country, Country) = {
    (argentina, bolivia), (argentina, brazil), (argentina, chile), (argentina, paraguay),
    (argentina, uruguay),
    (bolivia, brazil), (bolivia, chile), (bolivia, paraguay), (bolivia, peru), (brazil, colombia),
    (brazil, french_guiana), (brazil, guyana), (brazil, paraguay), (brazil, peru),
    (brazil, suriname),
    (brazil, uruguay), (brazil, venezuela), (chile, peru), (colombia, ecuador), (colombia, peru),
    (colombia, venezuela), (ecuador, peru), (french_guiana, suriname), (guyana, suriname),
    (guyana, venezuela)
}

random colour(Country): Colour

require colour(a) != colour(b) for (a, b) in border

query colour(brazil) = colour(chile) as alike
query colour(ecuador) = colour(venezuela) as north
query count(colour(c) = grey for c in Country) as greys
query map
query logz
