"""Types of results and tables. In the comments, `typ` is the text of the type that a checker reveals."""

from typing import reveal_type

import numpy as np

import tieaware
from tieaware import AP, Results

values = tieaware.evaluate({"q1": {"d1": 1}}, {"bm25": {"q1": {"d1": 1.0}}}, ["AP", "nDCG@10"], spread=True)


def check_evaluate() -> None:
    reveal_type(values)  # assert "Results" in typ
    reveal_type(values.values)  # assert "float64" in typ and "None" not in typ
    reveal_type(values.std)  # assert "float64" in typ and "None" in typ
    reveal_type(values.runs)  # assert "tuple" in typ and "str" in typ
    reveal_type(values.queries)  # assert "tuple" in typ and "int" in typ and "str" in typ
    reveal_type(values.measures)  # assert "Measure" in typ
    reveal_type(values.mean())  # assert "float64" in typ
    reveal_type(float(values))  # assert typ == "float"
    reveal_type(len(values))  # assert typ == "int"
    reveal_type(list(values))  # assert typ in ("list[str]", "builtins.list[builtins.str]")


def check_selection() -> None:
    reveal_type(values["bm25", "AP", "q1"])  # assert typ == "float"
    reveal_type(values["bm25", AP, 301])  # assert typ == "float"
    reveal_type(values["bm25", "AP"])  # assert "float64" in typ
    reveal_type(values["bm25", AP])  # assert "float64" in typ
    reveal_type(values[AP])  # assert "float64" in typ
    # A single text names a run or a measure. Both uses pass.
    reveal_type(values["bm25"])  # assert typ == "Any"
    values["bm25"]["AP"].mean()
    values["AP"].mean()


def check_exports() -> None:
    # pandas has no types that mypy could read.
    reveal_type(values.to_pandas())  # assert typ in ("DataFrame", "Any", "pandas.DataFrame") or "pandas" in typ
    reveal_type(values.to_polars())  # assert "DataFrame" in typ
    reveal_type(values.to_arrow())  # assert "Table" in typ or typ in ("Any", "Unknown")
    reveal_type(values.to_trec_eval())  # assert typ == "str"
    reveal_type(values.to_dict()["bm25"]["q1"]["AP"])  # assert typ == "float"
    reveal_type(values.to_csv("values.csv"))  # assert typ == "None"
    reveal_type(values.to_parquet("values.parquet"))  # assert typ == "None"
    reveal_type(values.plot())  # assert "Axes" in typ or typ == "Any"
    reveal_type(Results.load("values.npz"))  # assert "Results" in typ
    reveal_type(Results.concat([values, values]))  # assert "Results" in typ


def check_tables() -> None:
    means = values.means()
    reveal_type(means)  # assert "Table" in typ
    reveal_type(means["bm25", "AP"])  # assert typ == "Any"
    reveal_type(means["AP"])  # assert typ in ("list[Any]", "builtins.list[Any]")
    reveal_type(means.columns)  # assert "tuple" in typ and "str" in typ
    reveal_type(means.to_latex())  # assert typ == "str"
    reveal_type(values.table(test="permutation", correction="holm", spread="std"))  # assert "Table" in typ
    reveal_type(values.means(sort="AP"))  # assert "Table" in typ


def check_wrong_calls() -> None:
    values["bm25", "AP", 1.5]  # wrong
    values.table(test="student")  # wrong
    values.table(correction="holms")  # wrong
    values.table(spread="sd")  # wrong
    values.to_trec_eval(4)  # wrong
    values.save(3)  # wrong
    list(values.means())  # wrong
    Results(np.zeros((1, 1, 1)), ("a",), ("q",), ("AP",))  # wrong
