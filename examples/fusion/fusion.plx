# Sensor fusion: where is a robot, and which of its sensors lies?
#
# Four beacons measure how far away the robot on a grid is, give or take a metre. One in ten is broken and shows
# anything. readings.csv has one reading of each.
#
# What to expect: the robot is at (6, 6) with probability 0.316394, and mostly next to it else. The beacon in
# the west reads 13 where the others leave 7 or so: it is broken with 0.994178, the others with less than 0.04.

type X = 0..9
type Y = 0..9
type Beacon = {north, east, south, west}
type Metres = 0..15
param bx(Beacon) = {north: 4, east: 9, south: 6, west: 0}
param by(Beacon) = {north: 9, east: 5, south: 0, west: 2}
# To a tenth: whole roots would be kept exactly, which takes time.
param away(b: Beacon, i: X, j: Y) = floor(10 * sqrt((i - bx(b))^2 + (j - by(b))^2)) / 10

random x: X ~ uniform
random y: Y ~ uniform
random broken(Beacon) ~ 0.1

define fit(b: Beacon, m: Metres) = -(!broken(b)) * (m - away(b, x, y))^2
random reading(beacon: Beacon): Metres ~ softmax(fit(beacon))

observe reading from "readings.csv"

query (x, y)
query broken(b) for b in Beacon
query x
query y
