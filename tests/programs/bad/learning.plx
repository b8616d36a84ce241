# Numbers that are learned stand where a log-likelihood stays concave in them.
type Person = {anna, bob}
random smokes(Person)
learn base
learn peer(Person) = 0.5 ~ normal(0, 1)
learn bad ~ normal(0, -1)                        ### "the scale of a prior is positive, this is -1"
learn odd ~ cauchy(0, 1)                         ### "`cauchy(0, 1)` is no prior"
learn word = anna                                ### "`word` starts from a symbol: it must be a number"
learn gaps(Person) = {anna: 1}                   ### "`gaps` has no entry for bob"
weight base * peer(x): smokes(x) for x in Person ### "`base * peer(x)` is not affine in the numbers that are learned"
weight exp(base): smokes(x) for x in Person      ### "`exp(base)` is not affine in the numbers that are learned"
factor 2 + abs(base - 1) * smokes(anna)          ### "`abs(base - 1)` is not affine in the numbers that are learned"
factor 1 / base                                  ### "`1 / base` is not affine in the numbers that are learned"
weight 1: smokes(x) for x in Person if base > 0  ### "`base` is learned: it may stand in the E of a `weight` or `factor` only"
require count(smokes(x) for x in Person) > base  ### "`base` is learned: it may stand in the E of a `weight` or `factor` only"
query peer(anna)                                 ### "`peer` is learned: it may stand in the E of a `weight` or `factor` only"
param twice = 2 * base                           ### "`base` is learned: it may stand in the E of a `weight` or `factor` only"
define bent(x: Person) = base * peer(x)
weight bent(x): smokes(x) for x in Person        ### "`bent(x)` is not affine in the numbers that are learned"
type Level = 0..base                             ### "`base` is learned: it may stand in the E of a `weight` or `factor` only"
factor sum(k for k in 0..base)                   ### "`base` is learned: it may stand in the E of a `weight` or `factor` only"
learn blue
type Hue = {red, blue}                           ### "`blue` is a member here, and declared as a number that is learned"
