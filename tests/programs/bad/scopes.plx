# Bindings.
type Person = {anna, bob}
relation friends(Person, Person) = {(anna, bob)}
random loves(Person, Person)
random f(Person)

weight 1: f(x) for x, x in Person                 ### "`x` is bound twice"
weight 1: f(u) for (u, v, w) in friends           ### "`friends` takes 2 arguments, 3 names are bound here"
weight 1: f(u) for (u, v) in loves                ### "`loves` is random; only the tuples of a relation can be bound"
weight 1: f(u) for (u, v) in Person               ### "a tuple is bound to the facts of a relation"
weight 1: f(u) for u in friends                   ### "`friends` is a relation; a set is expected here" "for (u, v) in friends"
weight 1: f(u) for (u, u) in friends              ### "`u` is bound twice"
weight 1: f(x) for y in Person                    ### "`x` is no member of Person"
weight 1: exists(f(y) for z in Person) for x in Person   ### "`y` is no member of Person"
weight 1: f(x) for x in 3                         ### "a set is expected here"
weight 1: f(x) for x in 0..2                      ### "`f` takes a member of Person here, `x` is never one"
weight 1: f(x) for x in {anna, carl}              ### "`carl` is neither bound"
weight 1: f(x) for x in anna..bob                 ### "the ends of a run differ in their final number only"
