"""Planted faults: small mistakes that a developer could make, and the tests that must find each of them.

A fault replaces a text that occurs once in a file. None of them is ever in a build of the package: `planting` makes
each in a copy of the sources.
"""

from __future__ import annotations

from typing import NamedTuple

GROUPING = "ext/engine/_grouping.pyx"
EXPECTED = "ext/engine/_expected.pyx"
RANKING = "ext/engine/ranking.h"
SPREAD = "tests/engine/test_spread.py"
VALUES = "tests/engine/test_values.py"
ENGINES = "tests/engine/test_engines.py"
TREC = "tests/inputs/test_trec.py"
NOISE = "tests/engine/test_under_noise.py"
BOUNDS = "tests/engine/test_bounds.py"


class Fault(NamedTuple):
    """A planted fault.

    Parameters
    ----------
    name : str
        What is wrong.
    path : str
        The file, from the root of the repository.
    old, new : str
        The text that occurs once in the file, and the text that replaces it.
    tests : tuple of str
        Arguments of pytest. At least one of these tests must fail, without a crash.
    kernels : tuple of str
        The kernels to build again; by default the one with the name of the file, if it is a kernel.
    """

    name: str
    path: str
    old: str
    new: str
    tests: tuple[str, ...]
    kernels: tuple[str, ...] = ()

    @property
    def built(self) -> tuple[str, ...]:
        """The kernels that contain the fault."""
        if self.path.endswith(".pyx"):
            return (self.path.rpartition("/")[2].removesuffix(".pyx"),)
        return self.kernels


FAULTS = (
    Fault(
        "a group starts one document later", GROUPING, "groups.start[g] = scratch.greater[v]",
        "groups.start[g] = scratch.greater[v] + 1", (VALUES,),
    ),
    Fault(
        "a cut-off inside a tie takes the whole tie", EXPECTED, "total += (k - t) * weight[g] / n",
        "total += weight[g]", (VALUES,),
    ),
    Fault(
        "average precision divides by n instead of n - 1", "ext/engine/expected.h",
        "(r - 1.0) / (n > 1.0 ? n - 1.0 : 1.0)", "(r - 1.0) / n", (VALUES,), ("_expected",),
    ),
    Fault(
        "the third document of a small group stops too few users", "ext/engine/cascade.h",
        "stops[2] = m1 - 2.0 * m2 + m3;", "stops[2] = m1 - 2.0 * m2;",
        ("tests/engine/test_digits.py",), ("_cascade",),
    ),
    Fault(
        "each grade stops as many users as one of its documents", "ext/engine/cascade.h",
        "own = w * stop[c];", "own = stop[c];", ("tests/engine/test_digits.py",), ("_cascade",),
    ),
    Fault(
        "scores that round to the same float tie", "ext/engine/_counting.pyx", "if found[i] != equal[v + i]:",
        "if found[i] > equal[v + i]:", (ENGINES,), ("_grouping", "_counting"),
    ),
    Fault(
        "a document below a cut-off at the ends of a line stays there", "ext/engine/crossings.h",
        "(before[j] >= limit) | (after[j] >= limit)", "(before[j] >= limit) & (after[j] >= limit)",
        ("tests/lines/test_line.py",), ("_line_units",),
    ),
    Fault(
        "excluded documents count", GROUPING, "    if n == 0:\n        return 0\n    nan = tally",
        "    if n >= 0:\n        return 0\n    nan = tally", ("tests/lists/test_sparse.py", ENGINES),
    ),
    Fault(
        "in long lists, excluded documents use up the cut-off", GROUPING,
        "return self.depth + n_excluded(self, query) if n > SHORT", "return self.depth if n > SHORT",
        ("tests/lists/test_sparse.py", ENGINES),
    ),
    Fault(
        "a list's excluded documents are those of the first", GROUPING,
        "position = self.excluded_position + self.excluded_offsets[query]", "position = self.excluded_position",
        ("tests/lists/test_sparse.py",),
    ),
    Fault(
        "zeros of either sign differ when sorted", "ext/engine/narrow_sorting.h", "NAME##_key(0 - scores[i]);",
        "NAME##_key(-scores[i]);   ", (ENGINES,), ("_grouping",),
    ),
    Fault(
        "zeros of either sign differ in long sorted lists", "ext/engine/sorting.h", "const double x = 0.0 - score;",
        "const double x = -score;", (ENGINES,), ("_grouping",),
    ),
    Fault(
        "different scores with equal narrow words keep the order of the list", RANKING, "unsettled |= key < before; ",
        "unsettled |= 0;           ", (ENGINES,), ("_grouping",),
    ),
    Fault(
        "equal narrow words tie", RANKING, "r += key != before;",
        "r += ((words[i] ^ words[i - 1]) & ~place_bits) != 0;", (ENGINES,), ("_grouping",),
    ),
    Fault(
        "the last group of a sorted list lacks a document", RANKING, "end[r] = list->n;", "end[r] = list->n - 1;",
        (ENGINES,), ("_grouping",),
    ),
    Fault(
        "the worst order of a tied group begins like the best", "ext/engine/_places.pyx",
        "source[slot] = document[begin[g] + begin[g + 1] - 1 - slot]", "source[slot] = document[slot]", (SPREAD,),
    ),
    Fault(
        "packed weights run into each other", "ext/engine/_groups.pyx", "while bits < total:",
        "while 2 * bits < total:", (ENGINES,),
    ),
    Fault(
        "zeros of either sign differ in the hash table", "ext/engine/tabulating.h", "(double)scores[i] + 0.0;",
        "(double)scores[i];      ", (ENGINES,), ("_grouping",),
    ),
    Fault(
        "one group suffices for several weightings", "src/tieaware/engine/weights.py",
        "first_group = len(by_label) == 1 and all(", "first_group = all(", ("tests/engine/test_first_group.py",),
    ),
    Fault(
        "a group of the highest score has all weights", GROUPING,
        "document_weight[i] if scratch.score[i] == top else 0.0", "document_weight[i]",
        ("tests/engine/test_first_group.py",),
    ),
    Fault(
        "NaN is accepted among positive scores", "ext/engine/narrow_sorting.h",
        "if (least < -INFINITE - 1 || most > INFINITE) return 0;", "if (most > INFINITE) return 0;", (ENGINES,),
        ("_grouping",),
    ),
    Fault(
        "a single NaN is accepted in a long list", RANKING, "place_bits, words) > 0) return 0;",
        "place_bits, words) > 1) return 0;", (ENGINES,), ("_grouping",),
    ),
    Fault(
        "doubles that are equal as floats tie", "ext/engine/_counting.pyx", "while end < n_values and equal[end] > 1",
        "while end < n_values and equal[end] > 2", (ENGINES,),
    ),
    Fault(
        "half precision and bfloat16 round toward zero", "ext/engine/coarsening.h",
        "rounded = (size + shift) - shift;",
        "rounded = (size + shift) - shift; rounded -= rounded > size ? shift * 0x1p-52 : 0.0;",
        ("tests/precision/test_rounded_scores.py",), ("_coarsening",),
    ),
    Fault(
        "the first rank of a band belongs to the band above", "ext/engine/banding.h",
        "while (start[band + 1] <= i) band++;", "while (start[band + 1] < i) band++; ",
        ("tests/precision/test_rank_bands.py", "tests/engine/test_bands_by_kernel.py"), ("_coarsening",),
    ),
    Fault(
        "in long lists, the first rank of a band belongs to the band above", "ext/engine/banding.h",
        "while (start[band + 1] <= rank) band++;", "while (start[band + 1] < rank) band++; ",
        ("tests/precision/test_rank_bands.py", "tests/engine/test_bands_by_kernel.py"), ("_coarsening",),
    ),
    Fault(
        "an infinite score is near a finite one", "ext/engine/near_ties.h", "(distance < INFINITY)", "1",
        ("tests/precision/test_near_ties.py",), ("_coarsening",),
    ),
    Fault(
        "minimum and maximum are swapped where less is better", "ext/engine/_engine.pyx",
        "            if q.measure.less_is_better:\n                least[i], most[i] = most[i], least[i]\n", "",
        (SPREAD,),
    ),
    Fault(
        "the mean of logarithms has no floor", "ext/engine/_means.pxd", "log2_exact(max(value, 0.00001))",
        "log2_exact(max(value, 1e-300))", ("tests/engine/test_means.py",), ("_means", "_engine"),
    ),
    Fault(
        "the first place of a sliced column is ignored", "ext/inputs/_arrow.pyx",
        "layout.first = array.offset + skipped", "layout.first = skipped",
        ("tests/inputs/test_arrow.py", "tests/inputs/test_frames.py"),
    ),
    Fault(
        "the last digit of a score is truncated", "ext/inputs/_decimal.pxd",
        "    if mantissa << m_shift << 62 != q * d:\n        q |= 1\n", "", (TREC,), ("_trec",),
    ),
    Fault(
        "a whole number beyond 32 bits is a label", "ext/inputs/_decimal.pxd",
        " or value > <uint64_t>0x7fffffff + negative:", ":", ("tests/inputs/test_trec_errors.py",), ("_trec",),
    ),
    Fault(
        "a NaN in a dict is accepted", "ext/inputs/_join.pyx", "    return score[0] == score[0]\n",
        "    return True\n", ("tests/inputs/test_runs.py", "tests/inputs/test_matching.py"),
    ),
    Fault(
        "a judged document may be missed", "ext/inputs/_join.pyx",
        "if not self.filters[self.filter_word(q, hashed)] >> (hashed >> 58) & 1:",
        "if not self.filters[self.filter_word(q, hashed)] >> (hashed >> 59) & 1:", ("tests/inputs/test_matching.py",),
    ),
    Fault(
        "a document with the k-th score is left out, if it comes earlier", "ext/retrieval/_top.pxd",
        "(a.document < b.document)", "(a.document > b.document)",
        ("tests/retrieval/test_methods.py",), ("_top", "_accumulators"),
    ),
    Fault(
        "the last posting that is read of a term does not count", "ext/retrieval/_candidate_weights.pyx",
        "document <= cut_document", "document < cut_document",
        ("tests/retrieval/test_accumulators.py", "tests/retrieval/test_impact_order.py"),
    ),
    Fault(
        "a document with several high impacts counts as several documents", "ext/retrieval/_prefixes.pyx",
        "while m < n_distinct and distinct[m] != document:", "while m < n_distinct:",
        ("tests/retrieval/test_impact_order.py",),
    ),
    Fault(
        "a filter has only half of the postings that are read", "ext/retrieval/_prefixes.pyx",
        "0 < size >= one.taken - one.start:", "0 < 2 * size >= one.taken - one.start:",
        ("tests/retrieval/test_impact_order.py",),
    ),
    Fault(
        "the last posting before a sampled weight is left out", "ext/retrieval/_prefixes.pyx",
        "min(one.high, sample * SAMPLE)", "min(one.high, sample * SAMPLE - 1)",
        ("tests/retrieval/test_impact_order.py",),
    ),
    Fault(
        "the lower ends of the wrong topics remove a verdict", "src/tieaware/statistics/verdicts.py",
        "np.append(low[:least], high[least:])", "np.append(high[:least], low[least:])",
        ("tests/statistics/test_tie_resolutions.py",),
    ),
    Fault(
        "differences inside their intervals count negatively", "src/tieaware/statistics/verdicts.py",
        "n_free = n_above - n_high", "n_free = n_high - n_above", ("tests/statistics/test_tie_resolutions.py",),
    ),
    Fault(
        "differences between whole runs count although their topics explain them",
        "src/tieaware/statistics/mean_changes.py", "(-share * of_residuals", "(0.0 * of_residuals",
        ("tests/statistics/test_mean_changes.py",),
    ),
    Fault(
        "a loss within the tolerance is worse", "src/tieaware/statistics/mean_changes.py",
        "if is_sure and abs(self.difference) > allowed:", "if is_sure and abs(self.difference) > 0.0:",
        ("tests/statistics/test_mean_changes.py",),
    ),
    Fault(
        "a gate counts queries that one of several base runs lacks as unanswered",
        "src/tieaware/experiments/_gate_sides.py", "set.intersection(*of_runs), set.union(*of_runs)",
        "set.intersection(*of_runs), set.intersection(*of_runs)", ("tests/experiments/test_gate_verdicts.py",),
    ),
    Fault(
        "Wilcoxon's test ranks differences of 0", "src/tieaware/statistics/paired_tests.py",
        "np.where(samples == 0.0, np.nan, np.abs(samples))", "np.abs(samples)",
        ("tests/statistics/test_paired_tests.py",),
    ),
    Fault(
        "a document that was seen loses more than was added", "ext/retrieval/entry_bounds.h",
        "bounds[i] - (seen >> i & 1 ? largest : LACKING)", "bounds[i] - (seen >> i & 1 ? 2 * largest : LACKING)",
        ("tests/retrieval/test_methods.py",), ("_entry_bounds",),
    ),
    Fault(
        "postings of documents that are not scored are not skipped", "ext/retrieval/blocks.h",
        "weights[at + tieaware_bits_set(has & (((uint64_t)1 << j) - 1))]", "weights[at++]",
        ("tests/retrieval/test_blocks.py",), ("_blocks",),
    ),
    Fault(
        "the bound of a document in a block lacks its base", "ext/retrieval/_blocks.pyx",
        "base = tieaware_base_units(search.base_parts[block], search.base_factor)", "base = 0",
        ("tests/retrieval/test_blocks.py",),
    ),
    Fault(
        "padding is counted in numbers instead of bytes", "src/tieaware/inputs/runs/grouping.py",
        "at += found.nbytes + -found.nbytes % 8", "at += found.nbytes + -n % 8",
        ("tests/inputs/test_external_grouping.py",),
    ),
    Fault(
        "rows after a spill keep the numbers of their batch", "src/tieaware/inputs/runs/grouping.py",
        "starts.append(batch.offsets[:-1] + n)", "starts.append(batch.offsets[:-1])",
        ("tests/inputs/test_external_grouping.py",),
    ),
    Fault(
        "the last chunk of a file is dropped", "src/tieaware/inputs/trec/reader.py",
        "                yield FileChunk(parser, filled)\n",
        "                if not continued:\n                    yield FileChunk(parser, filled)\n",
        ("tests/inputs/test_file_chunks.py",),
    ),
    Fault(
        "the last lists are left out when threads divide the lists", "src/tieaware/runtime/threads.py",
        "edges[0], edges[-1] = 0, n_lists", "edges[0] = 0", ("tests/runtime/test_threads.py",),
    ),
    Fault(
        "the last chunk of work is dropped", "src/tieaware/runtime/threads.py",
        "for a, b in pairwise(edges.tolist()) if a < b]", "for a, b in pairwise(edges.tolist()[:-1]) if a < b]",
        ("tests/runtime/test_threads.py",),
    ),
    Fault(
        "narrow intervals of lines count", "ext/engine/_lines.pyx", "if row > 0 and is_close(bounds, self.latest, t):",
        "if False:", ("tests/lines/test_attained.py",),
    ),
    Fault(
        "the directions of lines are rounded", "src/tieaware/lines/crossings.py",
        "(b - (d - rounded)) + (-a - rounded)", "np.zeros(len(d))", ("tests/lines/test_line.py",),
    ),
    Fault(
        "the middle of an interval is taken unseen", "src/tieaware/lines/choice.py",
        "agreeing: npt.NDArray[np.bool_] = (values == values[0]).all(axis=0) & near | np.isnan(values[0])",
        "agreeing = near | True", ("tests/lines/test_attained.py",),
    ),
    Fault(
        "trec_eval's order is ascending", "src/tieaware/ties.py", 'by_document="descending",',
        'by_document="ascending",', (VALUES,),
    ),
    Fault(
        "label 0 is relevant", "src/tieaware/measures/formulas.py", "return (labels >= rel).astype(np.float64)",
        "return (labels >= rel - 1).astype(np.float64)", (VALUES,),
    ),
    Fault(
        "one repeated document of a list is accepted", "src/tieaware/inputs/runs/topk.py", "if len(again):",
        "if len(again) > 1:", ("tests/inputs/test_run_topk.py",),
    ),
    Fault(
        "a repeated document is accepted if two are to be kept", "src/tieaware/inputs/runs/reading_options.py",
        'if duplicates == "error":\n        raise', 'if duplicates == "error" and len(found) > 1:\n        raise',
        ("tests/inputs/test_runs.py", TREC),
    ),
    Fault(
        "excluded items are forgotten", "src/tieaware/lists/sparse.py",
        "if self.excluded is not None and len(self.excluded.columns):",
        "if self.excluded is not None and len(self.excluded.columns) > 4:", ("tests/lists/test_sparse.py",),
    ),
    Fault(
        "a changed run does not replace its checkpoint", "src/tieaware/results/checkpoints.py",
        'if found["state"] == self._runs[run]["state"] else None', "",
        ("tests/results/test_checkpoints.py",),
    ),
    Fault(
        "a second pass over noisy documents keeps the relevant ones of the first as above",
        "ext/engine/_noise_islands.pyx", "w.sums[m].goes_on, w.sums[m].relevant = w.sums[m].gone_on, w.sums[m].found",
        "w.sums[m].goes_on = w.sums[m].gone_on", (NOISE,),
    ),
    Fault(
        "documents that tie without noise are above those that follow only by chance", "ext/engine/_noise_islands.pyx",
        "(points or w.size[i] > 0.0)", "(points and w.size[i] > 0.0)", (NOISE,),
    ),
    Fault(
        "relevant documents that are surely above do not count in average precision under noise",
        "ext/engine/_noise_nodes.pyx", "1.0 + w.sums[m].relevant if form.counted else 1.0", "1.0", (NOISE,),
    ),
    Fault(
        "unjudged documents end a list under noise", "ext/engine/_noise_nodes.pyx",
        "w.spent = not (point or w.some_judged_only)", "w.spent = not point", (NOISE,),
    ),
    Fault(
        "under noise, the excluded documents of each list are those of the first", "ext/engine/_noise.pyx",
        "gone, n_gone = lists.excluded_offsets[q], lists.excluded_offsets[q + 1]",
        "gone, n_gone = lists.excluded_offsets[0], lists.excluded_offsets[1]", (NOISE,),
    ),
    Fault(
        "a document takes a rank that is below its best one", "src/tieaware/engine/bounds.py",
        'np.searchsorted(places, own, "right") - 1 - earlier', "np.searchsorted(places, own) - earlier", (BOUNDS,),
    ),
    Fault(
        "two documents take the same rank of a best order", "src/tieaware/engine/bounds.py",
        "                skipped = np.minimum.accumulate(skipped[::-1])[::-1]\n", "", (BOUNDS,),
    ),
    Fault(
        "two documents take the same rank of a worst order", "src/tieaware/engine/bounds.py",
        "np.maximum.accumulate(np.searchsorted(places, own) - earlier)", "np.searchsorted(places, own) - earlier",
        (BOUNDS,),
    ),
    Fault(
        "bounds that are sums are not rounded outwards", "src/tieaware/engine/bounds.py",
        "(self.n_added + _ROUNDINGS) * np.finfo(np.float64).eps", "0.0", (BOUNDS,),
    ),
    Fault(
        "a scale has a cut that is worth nothing", "src/tieaware/precision/thresholds.py",
        "if ends[last] > best + rounding:", "if ends[last] >= best:", ("tests/precision/test_thresholds.py",),
    ),
    Fault(
        "a search looks closer only where the first pair fails", "src/tieaware/experiments/_coarsest.py",
        "for limit in _limits(keep):", "for limit in _limits(keep)[:1]:", ("tests/experiments/test_coarsest.py",),
    ),
    Fault(
        "the difficulty of topics counts as an error of the means", "src/tieaware/experiments/_smoothed.py",
        "errors = known - known.mean(axis=0)", "errors = known",
        ("tests/experiments/test_smoothing.py",),
    ),
    Fault(
        "in a run without scores, the last document is the best", "src/tieaware/inputs/trec/layouts.py",
        'b"-" + row[2]', "row[2]", ("tests/inputs/test_layouts.py",),
    ),
)  # fmt: skip
