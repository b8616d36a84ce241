# Comments, blanks and marks that do not matter.
type P={"a b","c",d'}
random   f ( P ) : { "1" , "true" , yes }
weight 1 : f( x ) = "1"   for x in P
weight 1:f(x)!="true"&f(x)==yes for x in P
query f("a b")
query f(d')
