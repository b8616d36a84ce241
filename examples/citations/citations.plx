# Collective classification: what are papers about, which cite one another?
#
# Papers cite their own topic, and so do two papers that one paper cites. cites.csv comes from elsewhere, with
# semicolons, a column more than is wanted, and headings that are words of the language: `columns` says what to
# read. Rules over two hops join the citations with themselves.
#
# What to expect: ml98 cites two papers on learning, or likely so, and is about it with 0.9294. as96 cites one
# paper on logic and one on search: each with 0.4346. rs91 cites logic alone, but ml98 cites it: learning, with
# 0.7057.

type Paper from "papers.csv" columns (key)
type Topic = {logic, learning, search}
relation cites(p: Paper, q: Paper) from "cites.csv" columns ("from", "to")

random topic(Paper): Topic

weight 1.2: topic(p) = topic(q) for (p, q) in cites
weight 0.4: topic(q) = topic(r) for (p, q) in cites, (p, r) in cites if q < r
weight 0.6: topic(p) = topic(r) for (p, q) in cites, (q, r) in cites

observe topic from "topics.csv" columns (paper, topic)

query topic(p) for p in Paper if exists(true for (p, _) in cites)
query count(topic(p) = learning for p in Paper) as on_learning
query topic("rs91") given topic("ml98") = learning
