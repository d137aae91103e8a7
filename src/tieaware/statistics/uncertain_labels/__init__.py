"""Mean and variance of measures over uncertain labels and the orders of tied documents; docs/uncertain_labels.md.

`label_uncertainty` has the public function. `grade_probabilities` reads the probabilities, `uncertain_lists` prepares a
list, `uncertain_formulas` chooses the formula of a measure, and the other modules have the formulas and the sampling.
"""
