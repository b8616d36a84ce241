# Weights that are no finite numbers.
random a
param zero = 0
weight 1/zero: a                                  ### "division by zero"
weight log(0): a                                  ### "the logarithm of a number that is not positive"
weight 1e400: a                                   ### "too large for a double" "use `require`"
weight sqrt(-1): a                                ### "the square root of a negative number"
weight logit(1): a                                ### "must lie between 0 and 1"
weight "heavy": a                                 ### "is a member of no type"
weight true: a                                    ### "a weight is a number"
factor -1e999                                     ### "too large for a double"
weight 2 % 0: a                                   ### "division by zero"
