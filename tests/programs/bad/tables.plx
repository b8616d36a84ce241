# Tables of observations, and what may follow a file.
type T = {a, b, c}
type A = {u, v}
type C(A) = {u: {p, q}, v: {q}}
random f(T)
random g(T): 1..3
random m(t: T, x: A): {none} | C(x)
random rain
param w(T) = {a: 1, else: 0}

observe f = {a, d}                                ### "`d` is no member of T"
observe f = {a: 2}                                ### "`2` is no value of `f`"
observe f = {a, else: maybe}                      ### "`maybe` is no value of `f`" "its values: false, true"
observe f = {a, else: 2}                          ### "`2`, the value of all others, is no value of `f`"
observe f = {a, else: false, else: true}          ### "a table has one `else`"
observe f = {a, else: rain}                       ### "observed values must be fixed, but `rain` is random"
observe f = {a} for x in T                        ### "has an entry for each index, and no `for`"
observe g = {a: 1, b}                             ### "`g` is a table: write `index: value`"
observe g = {a: 1, b: 4}                          ### "`4` is no value of `g`"
observe g = {else: 4}                             ### "`4`, the value of all others, is no value of `g`" "its values: 1, 2, 3"
observe m = {(a, v): p}                           ### "`p` is no value of `m`" "its values: none, q"
observe m = {a: none}                             ### "an index of `m` has 2 parts, this one has 1"
observe m = {(a, u): non}                         ### "`non` is no value of `m`" "did you mean `none`?"
observe rain = {true}                             ### "a single value is expected here, this is a set"
observe w = {a}                                   ### "`w` is no random function, so it cannot be observed"
observe r = {(a, b)}                              ### "`r` is no random function, so it cannot be observed"
observe nothing = {a}                             ### "`nothing` is no random function"
observe g = 1                                     ### "`g` takes 1 argument" "`observe g = {else: 1}` says it at every index"
observe f = {a: 1}                                ### "`1` is no value of `f`" "its values: false, true"
observe g = {z: 1, b: 4, else: 5}                 ### "`z` is no member" "`4` is no value of `g`" "`5` is no value of `g`"
observe x from "x.csv" else false                 ### "`x` is no random function, so it cannot be observed"
query f(a)
