# Constraints over a scope.
type Person = {anna, bob}
random f(Person)
random level(Person): 0..3
define exactly(x: Person) = f(x)

weight 1: alldifferent(f(x))                            ### "`alldifferent` is not declared" "write `alldifferent(E for x in T)`"
weight 1: at_most(f(x) for x in Person)                 ### "`at_most` takes a number and a formula before its `for`" "at_most(k, F for x in T)"
weight 1: alldifferent(1, f(x) for x in Person)         ### "`alldifferent` takes a value before its `for`"
weight 1: exactly(1, f(x) for x in Person)              ### "`exactly` is declared in this program, so it takes no `for` in its parentheses" "give it another name where `exactly(k, F for x in T)` is meant"
weight 1: exactly(x) for x in Person
weight 1: at_most(1/2, f(x) for x in Person)            ### "`at_most` takes a whole number from 0 on, not 0.5"
weight 1: at_least(-1, f(x) for x in Person)            ### "`at_least` takes a whole number from 0 on, not -1"
weight 1: at_least(anna, f(x) for x in Person)          ### "a number is expected here, this is a symbol"
weight 1: at_least(1, level(x) for x in Person)         ### "a formula (true or false) is expected here, this is a number"
weight 1: at_most(level(x), f(x) for x in Person)       ### "`x` is no member of Person"
weight 1: alldifferent(f(y) for x in Person)            ### "`y` is no member of Person"
weight 1: all_different(f(anna), f(bob))                ### "`all_different` is not declared" "write `alldifferent(E for x in T)`"
factor alldifferent(level(x) for x in Person)           ### "a factor is a number, this is a formula"
weight 1: f(at_most) for at_most in Person if at_most(1, f(x) for x in Person)  ### "`at_most` is a bound variable here, it takes no `for`"
