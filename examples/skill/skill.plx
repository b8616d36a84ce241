# Team skill: how good is each player, where only teams win?
#
# Twenty games of two against two, won by the sum of skills and some luck. lineups.csv says who played, results.csv
# whether the home side won, drawn with seed 8. Skills are bell-shaped before anything is seen.
#
# What to expect: ada has most likely level 3 of 0 to 4, with probability 0.519413, and cem level 1, with
# 0.543149. ada is better than cem with 0.926254, than fay with 0.582159. With eli she wins the next game
# against ben and dua with 0.60248.

type Player = {ada, ben, cem, dua, eli, fay}
type Game = 1..20
type Side = {home, away}
relation lineup(game: Game, side: Side, player: Player) from "lineups.csv"

define bell(level: 0..4) = -(level - 2)^2 / 2
define ahead(g: Game) = sum(skill(p) for (g, home, p) in lineup)
    - sum(skill(p) for (g, away, p) in lineup)

random skill(Player): 0..4 ~ softmax(bell)
random won(game: Game) ~ softmax(0.7 * ahead(game))
random next ~ softmax(0.7 * (skill(ada) + skill(eli) - skill(ben) - skill(dua)))

observe won from "results.csv"

query skill(p) for p in Player
query skill(ada) > skill(p) as ada_better for p in Player if p != ada
query next
