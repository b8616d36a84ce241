# Bindings.
type Person = {anna, bob}
relation friends(Person, Person) = {(anna, bob)}
random loves(Person, Person)
define near(x: Person, y: Person) = friends(x, y)
random f(Person)

weight 1: f(x) for x, x in Person                 ### "`x` is bound twice"
weight 1: f(u) for (u, v, w) in friends           ### "`friends` takes 2 arguments, the tuple has 3 items"
weight 1: f(u) for (u, v) in loves                ### "`loves` is random; only the tuples of a relation can be bound"
weight 1: f(u) for (u, v) in Person               ### "a tuple is bound to the facts of a relation"
weight 1: f(u) for u in friends                   ### "`friends` is a relation; a set is expected here" "for (u, v) in friends"
weight 1: f(u) for (u, v) in friends, v in Person ### "`v` is bound twice" "a variable that is bound already is a condition"
weight 1: f(v) for (3, v) in friends              ### "`3` is no member of Person, which `friends` takes here"
weight 1: f(v) for ("carl", v) in friends         ### "is a member of no type"
weight 1: f(u) for (u, f(u)) in friends           ### "the items of a tuple that is bound must be fixed, but `f` is random"
weight 1: f(v) for i in 0..2, (i, v) in friends   ### "`friends` takes a member of Person here, `i` is never one"
weight 1: f(_) for (_, v) in friends              ### "`_` is no member of Person" "give it a name"
weight 1: f(u) for (u, v) in near                 ### "a tuple is bound to the facts" "`relation near(…) = …`"
weight 1: f(x) for y in Person                    ### "`x` is no member of Person"
weight 1: exists(f(y) for z in Person) for x in Person   ### "`y` is no member of Person"
weight 1: f(x) for x in 3                         ### "a set is expected here"
weight 1: f(x) for x in 0..2                      ### "`f` takes a member of Person here, `x` is never one"
weight 1: f(x) for x in {anna, carl}              ### "`carl` is neither bound"
weight 1: f(x) for x in anna..bob                 ### "the ends of a run differ in their final number only"
