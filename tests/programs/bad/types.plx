# One variable at two types, wrong numbers of arguments, formulas and numbers in each other's place.
type Person = {anna, bob}
type Thing = {book, lamp}
type Level = 0..4
random knows(Thing, Person)
random married(Person, Person)
random level(Person): Level
random colour(Thing): {red, green}
type Metal = {gold, iron}
random gold
param age(Person) = {anna: 30, bob: 40}
param kind(Thing) = {book: red, lamp: green}

weight 0.8: knows(b, a) & married(b, a) for a in Person, b in Thing   ### "`married` takes a member of Person here, `b` is never one" "`b` ranges over Thing"
weight 1: married(x) for x in Person              ### "`married` takes 2 arguments, not 1" "`married(Person, Person)`"
weight 1: level(x) for x in Person                ### "a formula (true or false) is expected here, this is a number"
weight married(anna, bob): level(anna) = 2        ### "weights must be fixed, but `married` is random"
weight age(x) > 20: level(x) = 2 for x in Person  ### "a weight is a number"
weight kind(t): colour(t) = red for t in Thing    ### "a weight is a number, this is a symbol"
factor married(x, x) for x in Person              ### "a factor is a number, this is a formula (true or false)" "`weight w: married(x, x)` adds w where it holds"
factor 2 * level(x) = 3 for x in Person           ### "a factor is a number" "`w * (x = v)` is a number"
factor 2 * colour(t) = red for t in Thing         ### "a number is expected here, this is a symbol" "put it in parentheses"
weight 1: level(x) = 7 for x in Person            ### "`7` is no value of `level(x)`" "its values: 0, 1, 2, 3, 4"
weight 1: x = t for x in Person, t in Thing       ### "`x` and `t` are never equal"
weight 1: level(x) = red for x in Person          ### "a number and a symbol are never equal"
weight 1: married(x, x) = 1 for x in Person       ### "a formula (true or false) and a number are never equal" "write `married(x, x)` where it is true"
weight 1: colour(t) < anna for t in Thing         ### "no type holds all values" "Person lacks red, green"
weight 1: married(x, x) < true for x in Person    ### "truth values have no order" "`A => B` says"
weight 1: colour(level(x)) = red for x in Person  ### "an argument of `colour` must be fixed, but `level` is random"
weight 1: colour(t) = gold for t in Thing         ### "a symbol and a formula (true or false) are never equal" "`gold` is declared; write "
factor level(anna) / 0                            ### "division by zero"
factor level(anna) % (1 - 1) + 2                  ### "division by zero"
weight 1: colour(age(anna)) = red                 ### "`30` is no member of Thing"
weight 1: colour(kind(t)) = red for t in Thing
weight 1: colour(age(x)) = red for x in Person    ### "`age(x)` is never one"
weight 1: (anna, bob)                             ### "this is a tuple"
weight 1: {anna}                                  ### "this is a set" "write `anna` without the braces"
weight 1: level(x) = {1, 2} for x in Person       ### "this is a set" "`level(x) in {1, 2}` asks"
weight 1: {1, 2} != level(x) for x in Person      ### "this is a set" "`level(x) not in {1, 2}` asks"
weight 1: level({anna, bob}) = 1                  ### "this is a set" "write one value; `for x in {anna, bob}` after"
weight 1: level(x) in Thing for x in Person       ### "never in Thing"
weight 1: level(x) in anna for x in Person        ### "`anna` is a symbol; a set is expected here"
weight 1: married(x, x) for x in Person if level(x) = 1   ### "guards must be fixed, but `level` is random"
weight log(1, 2): married(anna, bob)              ### "`log` takes 1 argument, not 2"
weight max(1): married(anna, bob)                 ### "`max` takes two arguments or more"
weight 1: sum(colour(t) for t in Thing) > 3       ### "a number is expected here"
weight 1: count(level(x) for x in Person) > 3     ### "a formula (true or false) is expected here"
weight 1: 1                                       ### "a formula (true or false) is expected here, this is a number"
weight 1: -married(anna, bob)                     ### "a formula (true or false) is expected here" "`!` negates a formula"
weight 1: married(anna, bob) + married(bob, anna) ### "a formula (true or false) is expected here" "`&` and `|` join two"
weight 1: level(anna) in married(anna, anna)..3   ### "a number is expected here"
weight 1: !level(anna)                            ### "a formula (true or false) is expected here"
query level(anna) given level(bob)                ### "a formula (true or false) is expected here"
