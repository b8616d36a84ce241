# A hidden Markov model: how was a server, of which only the answers to pings are known?
#
# Every hour it is fine, slow or down, and mostly stays as it was. pings.csv is one day, drawn from the model with
# seed 5. A server that is down never answers fast, so one fast answer clears it.
#
# What to expect: at 15 there was no answer, but fast ones an hour before and after: it is down with 0.351123 only.
# From 17 to 20 it is, with 0.966956 at 19; 5.56636 hours of the day in the mean. The most probable day is
# down at 4, 5 and 17 to 20. The log probability of all pings is -21.1682.

type Hour = 0..23
type State = {fine, slow, down}
type Ping = {fast, late, none}
param start(State) = {fine: 0.8, slow: 0.1, down: 0.1}
param move(State, State) = {
    (fine, fine): 0.85, (fine, slow): 0.1, (fine, down): 0.05,
    (slow, fine): 0.2, (slow, slow): 0.7, (slow, down): 0.1,
    (down, fine): 0.3, (down, slow): 0.1, (down, down): 0.6
}
param answers(State, Ping) = {
    (fine, fast): 0.9, (fine, late): 0.08, (fine, none): 0.02,
    (slow, fast): 0.3, (slow, late): 0.5, (slow, none): 0.2,
    (down, fast): 0, (down, late): 0.05, (down, none): 0.95
}

random state(h: Hour): State ~ start if h = 0 else move(state(h - 1))
random ping(hour: Hour): Ping ~ answers(state(hour))

observe ping from "pings.csv"

query state(h) for h in Hour
query count(state(h) = down for h in Hour) as hours_down
query map state(h) for h in Hour
query logz
