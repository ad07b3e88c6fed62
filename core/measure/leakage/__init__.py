"""Where answers come from: the arithmetic of the leakage audit. `report.audit` is the whole of it.

words        tokens of answers, and runs of them
table        rows by question, arm and run
copies       near-verbatim copies, overlaps with references and examples
provenance   words by where else they stand
divergence   Jensen-Shannon divergences with their floors
survival     correct syntax that is left without documents
arms         each arm in a few numbers, other languages among its code too
decision     the tests, and the verdict of a model
report       all of it for every model
"""
