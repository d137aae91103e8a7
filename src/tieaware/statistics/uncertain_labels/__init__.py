"""Mean and variance of measures over uncertain labels and the orders of tied documents; docs/uncertain_labels.md.

`label_uncertainty` has the public function, the sampling, and the choice of a formula for a measure.
`grade_probabilities` reads the probabilities, `uncertain_lists` prepares a list and has the formulas of weighted sums,
and the other modules have the other formulas.
"""
