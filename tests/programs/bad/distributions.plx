# What stands after ~.
type S = {a, b, c}
type Few = {a, b}
param p(Boolean, S) = {(false, a): 1, (true, b): 1, else: 0}
param few(Few) = {a: 0.5, b: 0.5}
random r ~ 1.5                                      ### "a probability lies in 0..1, this is 1.5" "softmax"
random s ~ Bernoulli(0.3)                           ### "there is no distribution `Bernoulli`" "`random s ~ 0.3`"
random s2: 0..9 ~ normal(0, 1)                      ### "there is no distribution `normal`" "continuous ones"
random t: S ~ {a: 0.4, b: 0.6}                      ### "there is no probability for c" "give an `else`"
random u: S ~ {d: 0.4, else: 0.2}                   ### "`d` is no value of `u`"
random v: S ~ 0.3                                   ### "a distribution over S is expected here, this is a number"
random w: S ~ {a: 0.3, a: 0.3, else: 0.2}           ### "`a` stands twice in this table"
random x: S ~ {0.3, 0.7}                            ### "write `value: probability`"
random y: S ~ few                                   ### "`y` may be c, which is no member of Few"
random z: S ~ noisy_or(0.1, 0.2: r)                 ### "`noisy_or` is for unknowns that are true or false"
random i ~ either(0.1, 0.2: s)                      ### "`either` takes no causes"
random j ~ softmax(1, 2)                            ### "`softmax` takes one argument, not 2"
random k ~ {true: 0.2}                              ### "there is no probability for false"
random l ~ noisy_or(2, 0.2: s)                      ### "a probability lies in 0..1, this is 2"
random m(q: S) ~ 0.2 if s else 0.3                  ### "the conditions of a distribution must be fixed, but `s` is random" "p * F + q * (!F)"
random m2: S ~ uniform(3)                           ### "`uniform` takes no arguments"
random m3 ~ noisy_or(0.1, r)                        ### "a cause of `noisy_or` is written with the probability"
random m4(q: S): S ~ {q: 0.3, a: 0.7}               ### "which values this table leaves out depends on `q`" "`else`"
random m5(q: S): 0..2 ~ {q: 0.3, else: 0.35}        ### "a number and a symbol are never equal"
random n ~ {true: 0.2, else: 0.8, else: 0}          ### "a table has one `else`"
random o ~ {a: 0.2, else: 0.8}                      ### "`o` cannot be a"
