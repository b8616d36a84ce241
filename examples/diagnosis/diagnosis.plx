# Diagnosis: which diseases explain what was found?
#
# causes.csv says how likely each disease alone brings on each symptom. Causes add up by noisy-or, and any
# symptom may come from nowhere with 0.02. findings.csv is one patient, of whom some symptoms were not looked
# at.
#
# What to expect: flu with probability 0.857388, from 0.03 before, and pneumonia with 0.146249. Either explains what
# was found, and so speaks against the other: given flu, pneumonia has 0.008632. A headache is likely, 0.539561.

type Disease = {cold, flu, hay_fever, migraine, food_poisoning, pneumonia, anaemia}
type Symptom = {cough, runny_nose, fever, headache, fatigue, itchy_eyes, nausea}
param prior(Disease) = {
    cold: 0.1, flu: 0.03, hay_fever: 0.05, migraine: 0.03, food_poisoning: 0.02, pneumonia: 0.005,
    anaemia: 0.04
}
param strength(disease: Disease, symptom: Symptom) from "causes.csv" columns (disease, symptom, p) else 0

random has(d: Disease) ~ prior(d)
random shows(symptom: Symptom) ~ noisy_or(
    0.02, strength(d, symptom): has(d) for d in Disease if strength(d, symptom) > 0
)

observe shows from "findings.csv"

query has(d) for d in Disease
query shows(headache)
query has(pneumonia) given has(flu)
query logz
