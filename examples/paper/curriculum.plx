# Student curriculum, as the text of Anand, Noothigattu, Singla & Mausam (AISTATS 2017) describes it.
#
# A student passes one of the courses of an area, or none. Areas offer different numbers of courses, one
# in the first, two in the second, and so on. Passing in two areas has weight 1.2, for each pair of areas;
# each student has a weight for failing. The courses of an area are interchangeable. Areas would be too,
# if they were of one size: once the values of each are merged into passed and failed, they are, and what
# differs is how many states each merged one stands for (a non-equicardinal symmetry).
#
# What to expect: student 1 passes in the first area, which has one course, with probability 0.5814, and each
# of the three courses of the third with 0.2474; in all three areas with 0.4251.
#
# Other sizes: plx compare examples/paper/curriculum.plx --bind students=20 --methods gibbs,vv,nec,lifted

param students = 4
param areas = 3

type Student = 1..students
type Area = 1..areas

param leniency(s: Student) = 1 + (s * s * 7919 + s * 4561) % 1009 / 1009

random passed(s: Student, a: Area): 0..a  # 0: none

weight leniency(s): passed(s, a) = 0              for s in Student, a in Area
weight 1.2: passed(s, a) != 0 & passed(s, b) != 0 for s in Student, a, b in Area if a < b

query passed(s, a) for s in Student, a in Area
query count(passed(1, a) != 0 for a in Area) as areas_of_1
