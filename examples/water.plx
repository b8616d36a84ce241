# A Bayesian network with evidence: why does no water come?
#
# Forty unknowns, many of them determined by others. A storm shakes the grid, pumps without power stand still,
# and worn ones may. Two pumps feed each zone. What reaches its taps depends on them and on leaks, and people
# complain. Zeros in the tables are what cannot be: a pump without power never runs, and the grid is never down
# in fair weather.
#
# What to expect: z1 complains and the alarm rings, so a leak or the grid is likely at fault: there was a storm
# with probability 0.631594, from 0.1 before. z2 is quiet, which speaks against a grid that is down, 0.0796; the
# first leaks with 0.150783. All unknowns have distributions, so log Z, -4.49101, is the log probability of what
# was seen.

type Zone = z1..z4
type Pump = p1..p8
type Grid = {up, shaky, down}
type Motion = {running, weak, stopped}
type Supply = {dry, half, full}
type Pressure = {none, low, good}

param zone(Pump) = {p1: z1, p2: z1, p3: z2, p4: z2, p5: z3, p6: z3, p7: z4, p8: z4}
param pgrid(Boolean, Grid) = {
    (false, up): 0.99, (false, shaky): 0.01, (false, down): 0,
    (true, up): 0.6, (true, shaky): 0.3, (true, down): 0.1
}
param ppower(Grid) = {up: 1, shaky: 0.7, down: 0}
param pmotion(Boolean, Boolean, Motion) = {
    (true, false, running): 1, (true, true, running): 0.5, (true, true, weak): 0.3,
    (true, true, stopped): 0.2,
    (false, false, stopped): 1, (false, true, stopped): 1, else: 0
}
param ppressure(Supply, Boolean, Pressure) = {
    (dry, false, none): 1, (dry, true, none): 1,
    (half, false, low): 0.6, (half, false, good): 0.4, (half, true, none): 0.3,
    (half, true, low): 0.7,
    (full, false, good): 1, (full, true, low): 0.8, (full, true, good): 0.2, else: 0
}

random storm ~ 0.1
random grid: Grid ~ pgrid(storm)
random power(Zone) ~ ppower(grid)
random worn(Pump) ~ 0.2
random motion(p: Pump): Motion ~ pmotion(power(zone(p)), worn(p))
define pumping(z: Zone) = count(motion(p) != stopped for p in Pump if zone(p) = z)
random supply(z: Zone): Supply ~ {dry: pumping(z) = 0, half: pumping(z) = 1, full: pumping(z) = 2}
random leak(Zone) ~ 0.05
random pressure(z: Zone): Pressure ~ ppressure(supply(z), leak(z))
random complaint(z: Zone) ~ noisy_or(0.01, 0.9: pressure(z) = none, 0.4: pressure(z) = low)
random alarm ~ exists(pressure(z) = none for z in Zone)
random tanker ~ 0.8 * (alarm & count(complaint(z) for z in Zone) >= 2)

observe complaint(z1)
observe !complaint(z2)
observe alarm

query storm
query grid
query leak(z1)
query motion(p1)
query tanker
query logz
