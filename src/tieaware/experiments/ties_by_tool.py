"""How other evaluation tools order ties: the tie rule of each tool, in the version that was tested.

``tieaware ties`` and docs/tie_rules.md show this list. A test runs each tool on a run with many ties, and compares its
values with those of every tie rule.
"""

from __future__ import annotations

from dataclasses import dataclass

from tieaware.ties import RULES


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A tool, or a part of a tool: the measures or functions that order ties in the same way.

    `version` is the one that was tested. `rule` is the tie rule of `tieaware.ties.RULES` that gives the same values as
    the tool, or None if no rule does; `how` says the order of ties in a few words.
    """

    package: str
    version: str
    computes: str
    rule: str | None
    how: str


TOOLS = (
    Tool(
        package="pytrec-eval-terrier", version="0.5.11", computes="all", rule="trec_eval",
        how="trec_eval's own code: by document id, descending",
    ),
    Tool(
        package="ir-measures", version="0.4.3", computes="AP, nDCG, P, R, RR, …", rule="trec_eval",
        how="computed by pytrec_eval",
    ),
    Tool(
        package="ir-measures", version="0.4.3", computes="RR@k, Judged@k", rule="docid_ascending",
        how="computed by ir_measures itself: by document id, ascending",
    ),
    Tool(
        package="pyterrier", version="1.1.2", computes="AP, nDCG, P, R, RR, …", rule="trec_eval",
        how="pt.Experiment calls ir_measures",
    ),
    Tool(
        package="pyterrier", version="1.1.2", computes="RR@k, Judged@k", rule="docid_ascending",
        how="pt.Experiment calls ir_measures",
    ),
    Tool(
        package="ranx", version="0.3.21", computes="all", rule=None,
        how="an unstable sort: keeps the order of the run for up to about a dozen documents",
    ),
    Tool(
        package="mteb", version="2.26.24", computes="all measures of retrieval tasks", rule="trec_eval",
        how="by document id, descending; MRR kept the order of the dict before issue 5092 was fixed",
    ),
    Tool(
        package="beir", version="2.2.0", computes="nDCG, MAP, Recall, P (evaluate)", rule="trec_eval",
        how="computed by pytrec_eval",
    ),
    Tool(
        package="beir", version="2.2.0", computes="MRR, R_cap, Hole, Accuracy (evaluate_custom)", rule="run_order",
        how="a stable sort: keeps the order of the dict",
    ),
    Tool(
        package="sentence-transformers", version="6.2.0", computes="all measures of InformationRetrievalEvaluator",
        rule="docid_ascending", how="by document id, ascending",
    ),
    Tool(
        package="sentence-transformers", version="6.2.0", computes="MRR of CrossEncoderRerankingEvaluator", rule=None,
        how="np.argsort, an unstable sort, read backwards: the last document often comes first",
    ),
    Tool(
        package="sentence-transformers", version="6.2.0", computes="nDCG of CrossEncoderRerankingEvaluator",
        rule="average", how="computed by scikit-learn's ndcg_score",
    ),
    Tool(
        package="sentence-transformers", version="6.2.0", computes="MAP of CrossEncoderRerankingEvaluator", rule=None,
        how="computed by scikit-learn's average_precision_score",
    ),
    Tool(
        package="scikit-learn", version="1.9.1", computes="ndcg_score, dcg_score", rule="average",
        how="the mean over all orders, unless ignore_ties is set",
    ),
    Tool(
        package="scikit-learn", version="1.9.1", computes="average_precision_score", rule=None,
        how="each tie group is one threshold: its documents get the precision at the end of the group",
    ),
    Tool(
        package="tie-aware-retrieval-metrics", version="0.1.1", computes="all (expected)", rule="average",
        how="the mean over all orders; oblivious keeps the order of the list",
    ),
    Tool(
        package="lightgbm", version="4.7.0", computes="ndcg, map", rule="run_order",
        how="a stable sort: keeps the order of the rows",
    ),
    Tool(
        package="xgboost-cpu", version="3.2.0", computes="ndcg, map", rule="run_order",
        how="a stable sort: keeps the order of the rows",
    ),
    Tool(
        package="torchmetrics", version="1.9.0", computes="RetrievalNormalizedDCG", rule="average",
        how="the mean over all orders, as in scikit-learn",
    ),
    Tool(
        package="torchmetrics", version="1.9.0", computes="RetrievalMRR, RetrievalMAP, …", rule=None,
        how="the order that torch.topk returns",
    ),
)  # fmt: skip


def tools_by_rule() -> tuple[str, ...]:
    """Return a heading, and a line for each tie rule with the tools that follow it, and for those that follow none."""
    lines = []
    for rule in (*RULES, None):
        names = dict.fromkeys(f"{each.package} {each.version}" for each in TOOLS if each.rule == rule)
        if names:
            lines.append(f"{rule or 'no rule'}: {', '.join(names)}.")
    return "Tools that order ties by these rules, for all measures or for some (docs/tie_rules.md):", *lines


def table() -> str:
    """Return a Markdown table of the tools, in the order of `TOOLS`."""
    rows = [("tool", "tested version", "measures", "tie rule", "order of ties"), ("---",) * 5]
    rows += [
        (tool.package, tool.version, tool.computes, f"`{tool.rule}`" if tool.rule else "none", tool.how)
        for tool in TOOLS
    ]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)
