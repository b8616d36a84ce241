# A timetable: six lessons of three teachers in four slots and two rooms.
#
# What must hold is written with `require`; what would be nice has a weight. The distribution is over
# all timetables that keep the rules, the nicer the likelier.
#
# What to expect: of the 4096 ways to place six lessons, 360 keep the rules. Twelve of
# them are the nicest, with log weight 3.1, and `query map` gives one. Drama is last of all with
# probability 0.6727.

type Teacher = {kim, lee, mia}
type Lesson = {algebra, geometry, physics, optics, poetry, drama}
type Slot = {monday_early, monday_late, tuesday_early, tuesday_late}

relation teaches(Teacher, Lesson) = {
    (kim, algebra), (kim, geometry), (lee, physics), (lee, optics), (mia, poetry), (mia, drama)
}
random at(Lesson): Slot

define early(l: Lesson) = at(l) in {monday_early, tuesday_early}

# Nobody teaches two lessons at once, there are two rooms, and no slot stays empty.
require count(at(l) = s for (u, l) in teaches if u = t) <= 1 for t in Teacher, s in Slot
require count(at(l) = s for l in Lesson) <= 2                for s in Slot
require exists(at(l) = s for l in Lesson)                    for s in Slot

# Geometry comes after algebra. Kim likes it early, Mia does not, and drama is best last of all.
require at(algebra) < at(geometry)
weight 0.8: early(l)  for (t, l) in teaches if t = kim
weight -0.5: early(l) for (t, l) in teaches if t = mia
weight 1.5: at(drama) = tuesday_late

query at(l) for l in Lesson
query at(drama) given at(optics) = tuesday_late, at(poetry) = monday_late
query exists(early(l) for (t, l) in teaches if t = mia) as mia_early
query map
