"""What evaluators do with ties: which rule stands for which tool, in the versions that were tried.

The only place of these facts: docs/tie_rules.md and ``tieaware ties`` show them, and a test runs each tool on a run
full of ties to see that they hold.
"""

from __future__ import annotations

from dataclasses import dataclass

from tieaware.ties import RULES


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A part of an evaluator that orders ties in one way.

    Parameters
    ----------
    package, version : str
        The distribution, and the version that was tried.
    computes : str
        Which of its measures.
    rule : str or None
        The tie rule of `tieaware.ties.RULES` that gives its values; None, where none does.
    how : str
        What it does with ties, in words.
    """

    package: str
    version: str
    computes: str
    rule: str | None
    how: str


TOOLS = (
    Tool(
        package="pytrec-eval-terrier", version="0.5.11", computes="all", rule="trec_eval",
        how="trec_eval itself: by document id, descending",
    ),
    Tool(
        package="ir-measures", version="0.4.3", computes="AP, nDCG, P, R, RR, …", rule="trec_eval",
        how="what pytrec_eval has is computed by it",
    ),
    Tool(
        package="ir-measures", version="0.4.3", computes="RR@k, Judged@k", rule="docid_ascending",
        how="by code of its own: by document id, ascending",
    ),
    Tool(
        package="pyterrier", version="1.1.2", computes="AP, nDCG, P, R, RR, …", rule="trec_eval",
        how="pt.Experiment computes by ir_measures",
    ),
    Tool(
        package="pyterrier", version="1.1.2", computes="RR@k, Judged@k", rule="docid_ascending",
        how="pt.Experiment computes by ir_measures",
    ),
    Tool(
        package="ranx", version="0.3.21", computes="all", rule=None,
        how="as an unstable sort leaves them: in the order of the run up to about a dozen documents",
    ),
    Tool(
        package="mteb", version="2.26.24", computes="all of a retrieval task", rule="trec_eval",
        how="by document id, descending; MRR in the order of the dict until issue 5092",
    ),
    Tool(
        package="beir", version="2.2.0", computes="nDCG, MAP, Recall, P (evaluate)", rule="trec_eval",
        how="computed by pytrec_eval",
    ),
    Tool(
        package="beir", version="2.2.0", computes="MRR, R_cap, Hole, Accuracy (evaluate_custom)", rule="run_order",
        how="a stable sort by score: in the order of the dict",
    ),
    Tool(
        package="sentence-transformers", version="6.2.0", computes="all of InformationRetrievalEvaluator",
        rule="docid_ascending", how="by document id, ascending",
    ),
    Tool(
        package="sentence-transformers", version="6.2.0", computes="MRR of CrossEncoderRerankingEvaluator", rule=None,
        how="np.argsort, unstable, read from its end: often the last of the list first",
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
        how="the expectation, unless ignore_ties",
    ),
    Tool(
        package="scikit-learn", version="1.9.1", computes="average_precision_score", rule=None,
        how="a tied group is one threshold: every relevant document has the precision at the end of its group",
    ),
    Tool(
        package="lightgbm", version="4.7.0", computes="ndcg, map", rule="run_order",
        how="a stable sort: in the order of the rows",
    ),
    Tool(
        package="xgboost-cpu", version="3.2.0", computes="ndcg, map", rule="run_order",
        how="a stable sort: in the order of the rows",
    ),
    Tool(
        package="torchmetrics", version="1.9.0", computes="RetrievalNormalizedDCG", rule="average",
        how="the expectation, as in scikit-learn",
    ),
    Tool(
        package="torchmetrics", version="1.9.0", computes="RetrievalMRR, RetrievalMAP, …", rule=None,
        how="as torch.topk leaves them",
    ),
)  # fmt: skip


def tools_by_rule() -> tuple[str, ...]:
    """Return which tools follow which tie rule, in a line each.

    Returns
    -------
    tuple of str
        For each rule that some tool follows, and for no rule.
    """
    lines = []
    for rule in (*RULES, None):
        names = dict.fromkeys(f"{each.package} {each.version}" for each in TOOLS if each.rule == rule)
        if names:
            lines.append(f"{rule or 'none of these'}: {', '.join(names)}.")
    return "In whole or in part (docs/tie_rules.md), tools order ties as", *lines


def table() -> str:
    """Return the tools as a table in Markdown.

    Returns
    -------
    str
        A row for each, in the order of `TOOLS`.
    """
    rows = [("tool", "version tried", "measures", "tie rule", "what it does"), ("---",) * 5]
    rows += [
        (tool.package, tool.version, tool.computes, f"`{tool.rule}`" if tool.rule else "none", tool.how)
        for tool in TOOLS
    ]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)
