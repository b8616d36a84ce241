# Members that must be written in quotes are shown in quotes, wherever a message names them.
type Room = {"1", "2", "for", hall}
type City = {"New York", Zürich}
random open(Room): {"3", hall}
param size(Room) = {"1": 1, "2": 2, else: 3}
param far(City) = {Zürich: 1}                     ### "`far` has no entry for \"New York\""
relation e(City, City) = {("New York", Zürich), ("New York", Oslo)}   ### "its values: \"New York\", Zürich"

weight size(1): open(hall) = hall                 ### "`1` is no member of Room" "its members: hall, \"1\", \"2\", \"for\""
observe open(hall) = "1"                          ### "`\"1\"` is no value of `open(hall)`" "its values: \"3\", hall"
observe open("4") = hall                          ### "\"4\" is a member of no type" "a symbol needs a type that has it: `type Other = {\"4\"}`"
observe open("fore") = hall                       ### "did you mean `\"for\"`?"
observe open(r) = hall                            ### "or use one of: hall, \"1\", \"2\", \"for\""
query open("New York")                            ### "`\"New York\"` is no member of Room"
query open(x) = hall for x in "2 1".."2 3"        ### "`\"2 1\"` is a member of no type"
query open(hall) < "1"                            ### "Room lacks \"3\""
