"""Attributes that users of other tools look for, and the errors that say what to write instead."""

from __future__ import annotations

import sys
from abc import ABCMeta
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

_EVALUATE = "evaluate(qrels, run, measures)"
_READ_QRELS = "tieaware.read_qrels(path)"
_READ_RUN = "tieaware.read_run(path)"
_STATISTICS = (
    "kendall_tau", "rbo", "tau_ap", "paired_test", "holm", "bonferroni", "benjamini_hochberg", "tukey_hsd",
    "randomised_tukey_hsd", "anova",
)  # fmt: skip
_READERS = ("from_csv", "from_file", "from_path", "from_trec", "from_parquet", "from_jsonl", "from_tsv", "load", "read")
_FRAMES = ("from_df", "from_pandas", "from_polars", "from_dataframe")
_OF_DICTS = {"get": "get(query, {})", "items": "items()", "keys": "keys()", "values": "values()"}
_TO_PANDAS = ("to_dataframe", "to_df", "as_dataframe", "dataframe", "df")

# What to write, by the name of the owner and the attribute. Names that are measures are not listed.
INSTEAD: dict[str, dict[str, str]] = {
    "tieaware": {
        **dict.fromkeys(("compute", "eval", "score", "calc_aggregate", "metrics"), _EVALUATE),
        "iter_calc": f"{_EVALUATE}.to_dict()",
        "compare": "evaluate(qrels, runs, measures).table()",
        "plot": "evaluate(qrels, runs, measures).plot()",
        **dict.fromkeys(("load_qrels", "read_trec_qrels", "parse_qrels", "load_qrel"), _READ_QRELS),
        **dict.fromkeys(("load_run", "read_trec_run", "parse_run", "read_runs"), _READ_RUN),
        **dict.fromkeys(("read_trec", "load"), f"{_READ_QRELS} or {_READ_RUN}"),
        "RelevanceEvaluator": "from tieaware.integrations.pytrec_eval import RelevanceEvaluator",
        "supported_measures": "from tieaware.integrations.pytrec_eval import supported_measures",
        "fusion": "tieaware.fuse(runs)",
        "rrf": "tieaware.fuse(runs, 'rrf')",
        "stats": "tieaware.statistics",
        **{name: f"tieaware.statistics.{name}" for name in _STATISTICS},
        **dict.fromkeys(("kendall", "kendalltau"), "tieaware.statistics.kendall_tau"),
        **dict.fromkeys(("ttest", "t_test", "significance"), "tieaware.statistics.paired_test"),
    },
    "tieaware.experiments": {
        "evaluate": _EVALUATE,
        "significance": "experiments.compare(results)",
        "curve": "experiments.curves(qrels, runs)",
    },
    "tieaware.statistics": {
        **dict.fromkeys(("kendall", "kendalltau"), "statistics.kendall_tau"),
        **dict.fromkeys(("ttest", "t_test", "paired_t_test", "paired_ttest"), "statistics.paired_test(a, b)"),
        "wilcoxon": "statistics.paired_test(a, b, 'wilcoxon')",
        "permutation_test": "statistics.paired_test(a, b, 'permutation')",
    },
    "Qrels": {
        **dict.fromkeys(_READERS, _READ_QRELS),
        **{name: f"qrels.to_dict().{call}" for name, call in _OF_DICTS.items()},
        **dict.fromkeys(_FRAMES, "Qrels.from_frame(frame)"),
        "from_json": "Qrels.from_dict(json.load(file))",
        "from_ir_datasets": "Qrels.from_frame(pandas.DataFrame(dataset.qrels_iter()))",
    },
    "Run": {
        **dict.fromkeys(_READERS, _READ_RUN),
        **dict.fromkeys(_FRAMES, "Run.from_frame(frame)"),
        "from_json": "Run.from_dict(json.load(file))",
        **dict.fromkeys(("save", "to_file"), "run.write(path)"),
        **{name: f"run.to_dict().{call}" for name, call in _OF_DICTS.items()},
        **dict.fromkeys(_TO_PANDAS, "run.to_pandas()"),
    },
    "Evaluator": {
        "evaluate": "evaluator(scores), or for runs by document tieaware.evaluate(qrels, runs, measures)",
        **dict.fromkeys(("compute", "update", "calc", "iter_calc"), "evaluator(scores)"),
        **dict.fromkeys(("means", "aggregate", "calc_aggregate"), "evaluator.mean(scores)"),
        "result": "evaluator.results({name: scores})",
        **dict.fromkeys(("table", "to_pandas"), "evaluator.results({name: scores})"),
    },
    "WeightedFusion": {
        **dict.fromkeys(("mean", "score", "means"), "fusion.evaluator.mean(fusion.scores(weights))"),
        "evaluate": "fusion(weights)",
        **dict.fromkeys(("run", "fuse", "write"), "tieaware.fuse(runs, weights=weights)"),
        **dict.fromkeys(
            ("fit", "optimise", "optimize"), "values = [fusion.evaluator.mean(fusion.scores(w)) for w in grid]"
        ),
    },
    "Table": {
        **dict.fromkeys(_TO_PANDAS, "table.to_pandas()"),
        **dict.fromkeys(("to_tex", "latex"), "table.to_latex()"),
        **dict.fromkeys(("markdown", "to_md"), "table.to_markdown()"),
        "to_string": "str(table)",
        **dict.fromkeys(("sort", "sort_values", "sort_by"), "result.means(sort=measure)"),
        **dict.fromkeys(("loc", "iloc", "at"), "table[row, column]"),
    },
    "Results": {
        **dict.fromkeys(_TO_PANDAS, "result.to_pandas()"),
        **{f"to_{name}": f"result.table().to_{name}()" for name in ("latex", "markdown", "html")},
        "to_string": "str(result.table())",
        "to_excel": "result.to_pandas().to_excel(path)",
        "to_json": "result.to_pandas().to_json()",
        **dict.fromkeys(("to_numpy", "scores"), "result.values"),
        **dict.fromkeys(("items", "per_query", "iter_calc"), "result.to_dict()"),
        "keys": "result.runs",
        "get": "result[run, measure]",
        "describe": "result.to_pandas().describe()",
        "head": "result.to_pandas().head()",
        **dict.fromkeys(("aggregate", "aggregated", "calc_aggregate", "average"), "result.means()"),
        "compare": "result.table(baseline=run) or tieaware.experiments.compare(result)",
        **dict.fromkeys(("ttest", "significance"), "result.table()"),
        **dict.fromkeys(("print", "show"), "print(result)"),
        **dict.fromkeys(("metric", "metrics", "measure"), "result.measures"),
        "write": "result.to_csv(path)",
        "item": "float(result)",
    },
}


def missing(owner: str, name: str, of: Any, instead: str = "") -> AttributeError:
    """Return the error for an attribute that does not exist.

    Parameters
    ----------
    owner : str
        The name of the class or module.
    name : str
        The name of the attribute.
    of : object
        The object itself, in which Python looks for attributes with a similar name.
    instead : str
        What to write instead; by default, what `INSTEAD` has.
    """
    instead = instead or INSTEAD.get(owner, {}).get(name, "")
    if instead:
        return AttributeError(f"{owner} has no {name!r}; write {instead}")
    return AttributeError(f"{owner} has no attribute {name!r}", name=name, obj=of)


def hinted_module(module: str) -> Callable[[str], Any]:
    """Return a function ``__getattr__`` for a module, whose error says what to write instead."""

    def __getattr__(name: str) -> Any:  # noqa: N807 - the name of the function in the module
        raise missing(module, name, sys.modules[module])

    return __getattr__


class HintedType(ABCMeta):
    """The type of a class whose error for a missing class attribute says what to write instead."""

    # Type checkers do not read this method, so that they find misspelled names.
    if not TYPE_CHECKING:

        def __getattr__(cls, name: str) -> Any:
            raise missing(cls.__name__, name, cls)


class Hinted(metaclass=HintedType):
    """The base of a class whose error for a missing attribute says what to write instead."""

    __slots__ = ()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise missing(type(self).__name__, name, self)


class HintedColumns(Hinted):
    """The base of `Qrels` and `Run`: the error for ``qrels["q1"]`` and for loops names `to_dict`."""

    __slots__ = ()

    # Type checkers do not read this method, so that they find such lines. Python also calls it for `for` and `in`.
    if not TYPE_CHECKING:

        def __getitem__(self, key: object) -> None:
            """Raise the error that names `to_dict`.

            Parameters
            ----------
            key : object
                Ignored.

            Raises
            ------
            TypeError
                Always.
            """
            name = type(self).__name__
            raise TypeError(f"{name} is not a dict; write {name.lower()}.to_dict()")
