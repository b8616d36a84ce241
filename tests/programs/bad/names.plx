# Names that mean nothing, with the nearest one suggested.
type Person = {anna, bob, "New York"}
type Area = {theory, systems}
random smokes(Person)
random passed(Person, a: Area): {fail, logic} | {os}
param w = 1.5
define both(x: Person, y: Person) = smokes(x) & smokes(y)

weight 1: smoks(x) for x in Person                ### "`smoks` is not declared" "did you mean `smokes`"
weight 1: smokes(z) for x in Person               ### "`z` is no member of Person" "bind it with `for z in Person`, or use one of: anna, bob, \"New York\""
weight W: smokes(x) for x in Person               ### "`W` is neither bound" "did you mean `w`"
weight 1: smokes(Anna)                            ### "did you mean `anna`"
weight 1: passed(x, theori) = fail for x in Person   ### "did you mean `theory`"
observe passed(anna, theory) = logik              ### "`logik` is no value of `passed`" "did you mean `logic`"
weight 1: Smokes(x) for x in Person               ### "did you mean `smokes`"
weight 1: smokes(x) for x in Persons              ### "there is no type `Persons`" "did you mean `Person`"
weight inf: smokes(anna)                          ### "use `require`"
query nonsense(anna)                              ### "`nonsense` is not declared" "declared are: smokes, passed, both"
query bth(anna, bob)                              ### "did you mean `both`"
query smokes("New york")                          ### "did you mean `\"New York\"`"
query theory(anna)                                ### "`theory` is a symbol, it takes no arguments"
weight 1: Person                                  ### "`Person` is a type"
weight 1: smokes                                  ### "`smokes` takes 1 argument"
weight 1: x(anna) for x in Person                 ### "`x` is a bound variable here"
observe smoke from "seen.csv"                     ### "no random function" "did you mean `smokes`"
