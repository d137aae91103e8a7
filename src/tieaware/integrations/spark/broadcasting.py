"""Broadcasting of judgments: they are collected and copied to every executor, and joined to the rows of the runs.

Spark compares integers faster than text. So rows are joined by 64-bit hashes of names, and the names themselves are
compared only where the hashes are equal.
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import numpy as np

from tieaware.errors import InputError
from tieaware.integrations.spark.checked_rows import CheckedRows
from tieaware.integrations.spark.installation import EXTRA
from tieaware.integrations.spark.packing import unpacked
from tieaware.integrations.spark.sql import raised
from tieaware.lists.identifiers import quoted
from tieaware.runtime.extras import load

# By default, at most this many judgments are broadcast. They take a few hundred megabytes per executor.
LARGEST = 1_000_000

# SQL expressions for the hash of a query, the hash of a query and document, and the hash of a document.
HASHES = {"query_key": "xxhash64(query)", "key": "xxhash64(query, document)", "bit": "xxhash64(document)"}

# This setting of Spark is the number of bytes up to which Arrow data become part of the query plan. All threads of a
# session share the setting, so only one thread at a time may change it.
_LARGEST_IN_PLAN = "spark.sql.execution.arrow.localRelationThreshold"
_SETTING = threading.Lock()


class BroadcastJudgments(NamedTuple):
    """Collected judgments, as two small data frames.

    Parameters
    ----------
    judged : pyspark.sql.DataFrame
        One row for each judgment: of_query (the hash of the query), key (the hash of query and document),
        judged_document and label.
    queries : pyspark.sql.DataFrame
        One row for each query: query (its hash), query_id (its name), judged (its labels) and bits (its bit filter).
        Later steps identify a query by its hash, because Spark sends integers to Python faster than text.
    highest : float
        The highest label.
    are_whole : bool
        Whether all labels are whole numbers.
    """

    judged: Any
    queries: Any
    highest: float
    are_whole: bool

    def joined(self, rows: Any) -> Any:
        """Add two columns to rows: label, null for unjudged documents; and answered, the hash of a judged query.

        A document is looked up only if the bit filter of its query says that it may be judged. The filter of one query
        stays in the processor's cache while the rows of a list are read. The labels of all queries would not fit there.
        """
        F = load("pyspark.sql.functions", EXTRA)
        queries = self.queries.selectExpr("query as query_key", "query_id as judged_query", "bits")
        columns = rows.columns
        rows = rows.selectExpr("*", f"{HASHES['query_key']} as query_key")
        with_queries = rows.join(F.broadcast(queries), "query_key", "left")
        bit = f"({HASHES['bit']} & (64 * size(bits) - 1))"
        may_be_judged = f"getbit(get(bits, cast(shiftright({bit}, 6) as int)), cast({bit} & 63 as int)) = 1"
        key = f"case when judged_query = query and {may_be_judged} then {HASHES['key']} end as key"
        with_labels = with_queries.selectExpr("*", key).join(F.broadcast(self.judged), "key", "left")
        same_names = "judged_query = query and of_query = query_key and judged_document = document"
        return with_labels.selectExpr(
            *columns,
            f"case when {same_names} then label end as label",
            "case when judged_query = query then query_key end as answered",
        )


def broadcast_judgments(judgments: CheckedRows, broadcast: bool | None) -> BroadcastJudgments | None:
    """Collect judgments from a frame, so that they can be broadcast.

    Parameters
    ----------
    judgments : CheckedRows
    broadcast : bool or None
        True to collect any number of judgments, False to collect none, None to collect up to LARGEST.

    Returns
    -------
    BroadcastJudgments or None
        None if the judgments are not collected, or if two of them have the same hash. With a million judgments, the
        probability of two equal hashes is below one in ten million.

    Raises
    ------
    InputError
        If there are no judgments, a judgment has a bad value, or a document has two labels for a query.
    """
    table = None if broadcast is False else _collected(judgments, broadcast)
    return None if table is None else _frames(table, judgments)


def _collected(judgments: CheckedRows, broadcast: bool | None) -> Any:
    """Return the judgments with their hashes as an Arrow table; None if there are too many for broadcasting."""
    errors = load("pyspark.errors", EXTRA)
    hashes = [f"{expression} as {name}" for name, expression in HASHES.items()]
    rows = judgments.frame.selectExpr("query", "document", f"{judgments.checked('label')} as label", *hashes)
    try:
        table = (rows if broadcast else rows.limit(LARGEST + 1)).toArrow()
    except errors.PySparkException as error:
        ours = raised(error, judgments.name)
        raise error if ours is None else ours from None
    return table if broadcast or table.num_rows <= LARGEST else None


def _frames(table: Any, judgments: CheckedRows) -> BroadcastJudgments | None:
    """Convert collected judgments to Spark data frames; return None if two queries or two judgments share a hash."""
    compute = load("pyarrow.compute", EXTRA)
    if table.num_rows == 0:
        raise InputError(judgments.name, "there are no judgments")
    columns = ["query_key", "query", "key", "document", "bit"]
    judged = table.group_by(columns).aggregate([("label", "min"), ("label", "max")])
    differ = judged.filter(compute.not_equal(judged["label_min"], judged["label_max"]))
    for row in differ.slice(0, 1).to_pylist():
        document, query = (quoted(str(row[name]).encode()) for name in ("document", "query"))
        found = f"{row['label_min']} and {row['label_max']}"
        raise InputError(judgments.name, f"document {document} of query {query} has different labels, {found}")
    queries = judged.group_by(["query_key", "query"]).aggregate([("label_min", "list"), ("bit", "list")])
    if any(len(each[key].unique()) < each.num_rows for each, key in ((judged, "key"), (queries, "query_key"))):
        return None
    judged = judged.select(["query_key", "key", "document", "label_min"])
    judged = judged.rename_columns(["of_query", "key", "judged_document", "label"])
    bits = bit_filters(queries["bit_list"])
    queries = queries.drop_columns(["bit_list"]).rename_columns(["query", "query_id", "judged"])
    spark, labels = judgments.frame.sparkSession, judged["label"].to_numpy()
    frames = [_outside_plan(each, spark) for each in (judged, queries.append_column("bits", bits))]
    are_whole = bool((labels == np.floor(labels)).all())
    return BroadcastJudgments(frames[0], frames[1], float(labels.max()), are_whole)


def _outside_plan(table: Any, spark: Any) -> Any:
    """Convert an Arrow table to a Spark data frame whose rows are not part of the query plan.

    If rows are part of a plan, Spark reads all of them again for each step that is added to the plan.
    """
    with _SETTING:
        largest = spark.conf.get(_LARGEST_IN_PLAN)
        spark.conf.set(_LARGEST_IN_PLAN, "0")
        try:
            return spark.createDataFrame(table)
        finally:
            spark.conf.set(_LARGEST_IN_PLAN, largest)


def bit_filters(lists: Any) -> Any:
    """Return a bit filter for each list of hashes, as an Arrow array of lists of 64-bit words.

    Each hash sets one bit of its list's filter. A filter has 32 to 64 bits for each hash of the list, so at most one in
    thirty hashes that are not in the list finds its bit set.
    """
    pa = load("pyarrow", EXTRA)
    hashes = unpacked(lists, np.uint64)
    n_words = 1 << np.ceil(np.log2(np.maximum(hashes.sizes, 2) / 2)).astype(np.int64)
    offsets = np.concatenate(([0], np.cumsum(n_words)))
    bits = hashes.values & np.repeat(64 * n_words - 1, hashes.sizes).astype(np.uint64)
    words = np.zeros(offsets[-1], np.uint64)
    word_of_hash = np.repeat(offsets[:-1], hashes.sizes) + (bits >> np.uint64(6)).astype(np.int64)
    np.bitwise_or.at(words, word_of_hash, np.uint64(1) << (bits & np.uint64(63)))
    return pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(words.view(np.int64)))
