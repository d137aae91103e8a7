"""Grouping of scores: the tie groups of a query that hold a weighted document, mostly without sorting the list.

A *weighted document* has a non-zero weight for some measure; mostly it is a relevant document. A measure needs the
start, size and weight of the groups that hold a weighted document, and nothing else. So, for each query:

1. gather the scores of the weighted documents and sort the distinct scores among them, which are few;
2. for each distinct score, count the documents with a higher score and with this score, in one pass over the list;
3. add up the weights of each group; or, for a rule that orders tied documents, make each weighted document a group.

Step 2 can be done by either of two engines, which give the same integers. Counting compares every score of the list
with every distinct score; it vectorises. Locating finds every score of the list among the sorted distinct scores by
binary search; its cost grows with the logarithm of the number of distinct scores. A third engine replaces all three
steps: it sorts the list and walks along it, which is cheaper if a large share of the documents is weighted. If such a
list is long and turns out to have few distinct scores, a hash table finds them, and the list is not sorted. The engine
for each list is chosen in advance, in src/tieaware/engine/engine_choice.py.

Excluded documents have scores but are not ranked. They are first counted with the list, then counted by themselves, and
the second counts are subtracted from the first.

Invariant of every engine, on which all kernels rely: the groups are those of some list of n documents. They are in
order and do not overlap, each group has at least as many places as weighted documents, and enough places remain after
the last group for the weighted documents that are in no group. The groups of a sorted list are so by themselves: each
document has one place. The other engines read scores several times, and a device counts them; if the scores change
meanwhile, the counts contradict each other. `confine` makes them those of a list, and the values are arbitrary.
"""
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memmove, memset

from tieaware.kernels._counting cimport LANES, assign_few, assign_many, count, count_own, locate, precede, score_t
from tieaware.kernels._groups cimport (
    AVERAGE, BEST_FIRST, IN_ORDER, WORST_FIRST, Groups, GroupingScratch, PreparedLists, is_sorted, length, n_excluded,
    order_of,
)
from tieaware.kernels._places cimport count_weighted, order_by_label, split
from tieaware.kernels._sorting cimport Sort, distinct, narrow_chunk, sort, sort_doubles, sort_narrow

cdef extern from "engine/ranking.h" nogil:
    enum:
        TIEAWARE_NO_ORDER
        TIEAWARE_TOO_CLOSE
    ctypedef struct tieaware_ranking:
        Py_ssize_t n, narrow_chunk
        int64_t depth
        Sort sort_narrow, sort_wide
        const int64_t* order
        int64_t* words
        int64_t* spare
        int64_t* keys
        int64_t* end
        uint64_t* sums
        const uint16_t* weighted_at
        uint32_t n_weighted
        const uint64_t* packs
        int64_t* document
        int64_t* start
        int64_t* size
        uint64_t* total
        bint numbering, grouped
    Py_ssize_t tieaware_rank_double(const double*, tieaware_ranking*)
    Py_ssize_t tieaware_rank_float(const float*, tieaware_ranking*)

cdef extern from "engine/tabulating.h" nogil:
    enum:
        TIEAWARE_LEAST_TABULATED
    ctypedef struct tieaware_scores:
        pass
    bint tieaware_tabulate_double(const double*, Py_ssize_t, uint8_t*, tieaware_scores*)
    bint tieaware_tabulate_float(const float*, Py_ssize_t, uint8_t*, tieaware_scores*)
    Py_ssize_t tieaware_tabulated_groups(const tieaware_scores*, const uint8_t*, const int64_t*, Py_ssize_t, int64_t,
                                         int64_t*, int64_t*, int64_t*)

# In lists up to this length, counting does not skip values that are below the cut-off: that would save no time.
cdef enum:
    SHORT = 2048

# A limit that no count reaches: it is larger than any number of documents.
cdef int64_t NO_LIMIT = 0x7fffffffffffffff


cdef inline int64_t limit_of(PreparedLists self, Py_ssize_t query, Py_ssize_t n) noexcept nogil:
    """Return how many higher scores a document of a list of n must have above it for no measure to look at it.

    Some of the higher scores may belong to excluded documents, so their number is added. For a short list, return
    NO_LIMIT.
    """
    return self.depth + n_excluded(self, query) if n > SHORT else NO_LIMIT


cdef int64_t tally(PreparedLists self, const score_t* scores, Py_ssize_t n, GroupingScratch* scratch,
                   Py_ssize_t n_values, bint own, int64_t limit, int64_t* greater, int64_t* equal) noexcept nogil:
    """For each distinct score in `scratch`, count the scores[:n] above it and equal to it; return the number of NaNs.

    Uses counting or locating, whichever is cheaper. For a distinct score with `limit` or more scores above it,
    `greater` is only known to be at least `limit`. `own` is true if each distinct score occurs among scores[:n].
    """
    if n_values <= self.counting_limit:
        if own:
            return count_own(scores, n, scratch.value, n_values, limit, greater, equal, scratch.interruption)
        return count(scores, n, scratch.value, n_values, limit, greater, equal, scratch.interruption)
    return locate(scores, n, scratch.value, n_values, scratch.histogram, greater, equal, scratch.interruption)


cdef Py_ssize_t gather_excluded(PreparedLists self, Py_ssize_t query, const score_t* scores,
                                GroupingScratch* scratch) noexcept nogil:
    """Write the scores of the query's excluded documents, in the order of tied documents; return how many there are."""
    cdef const int64_t* position
    cdef score_t* excluded = <score_t*>scratch.excluded
    cdef Py_ssize_t i, n = n_excluded(self, query)
    if n > 0:
        position = self.excluded_position + self.excluded_offsets[query]
        for i in range(n):
            excluded[i] = scores[position[i]]
    return n


cdef int64_t subtract_excluded(PreparedLists self, Py_ssize_t query, const score_t* scores, Py_ssize_t n_values,
                               GroupingScratch* scratch) noexcept nogil:
    """Subtract the excluded documents from the counts; return how many of their scores are NaN."""
    # The arrays `merged` and `taken` are not in use yet, so they serve as working memory here.
    cdef int64_t* greater = scratch.merged
    cdef int64_t* equal = scratch.taken
    cdef Py_ssize_t i, n = gather_excluded(self, query, scores, scratch)
    cdef int64_t nan
    if n == 0:
        return 0
    nan = tally(self, <const score_t*>scratch.excluded, n, scratch, n_values, False, NO_LIMIT, greater, equal)
    for i in range(n_values):
        scratch.greater[i] -= greater[i]
        scratch.equal[i] -= equal[i]
    return nan


cdef void confine(GroupingScratch* scratch, Py_ssize_t n_weighted, int64_t n, Groups* groups) noexcept nogil:
    """Write the tied groups without their weights; before, `clamp` the counts if they contradict each other."""
    cdef const int64_t* first = scratch.first
    cdef Py_ssize_t g, v = scratch.n_values
    cdef int64_t own, end = 0
    cdef bint good = True
    if n_weighted > LANES:
        count_weighted(scratch, n_weighted)
    groups.count = v
    for g in range(groups.count):
        v -= 1
        own = first[g + 1] - first[g]
        groups.start[g] = scratch.greater[v]
        groups.size[g] = scratch.equal[v]
        good &= (scratch.greater[v] >= end) & (scratch.equal[v] >= own)
        end = scratch.greater[v] + scratch.equal[v]
    if not good or end > n - (n_weighted - first[groups.count]):
        clamp(scratch, n_weighted, n, groups)


cdef void clamp(GroupingScratch* scratch, Py_ssize_t n_weighted, int64_t n, Groups* groups) noexcept nogil:
    """Make counts that contradict each other those of a list of n ranked documents, and write their groups.

    Invariant: the groups before g end at `end`, and n - end is at least the number of weighted documents that they do
    not hold.
    """
    cdef Py_ssize_t g, v
    cdef int64_t own, others = n_weighted, end = 0
    for g in range(scratch.n_values):
        v = scratch.n_values - 1 - g
        own = scratch.first[g + 1] - scratch.first[g]
        scratch.greater[v] = max(min(scratch.greater[v], n - others), end)
        others -= own
        scratch.equal[v] = max(min(scratch.equal[v], n - others - scratch.greater[v]), own)
        end = scratch.greater[v] + scratch.equal[v]
        groups.start[g], groups.size[g] = scratch.greater[v], scratch.equal[v]


cdef Py_ssize_t distinct_scores(PreparedLists self, GroupingScratch* scratch, Py_ssize_t n_weighted) noexcept nogil:
    """Write the distinct scores of the weighted documents, ascending; return how many there are.

    Only the `depth` highest scores are kept: a weighted document below `depth` others is below every cut-off.
    """
    cdef Py_ssize_t kept = min(<int64_t>n_weighted, self.depth)
    memcpy(scratch.value, scratch.score, n_weighted * sizeof(double))
    sort(scratch.value, n_weighted)
    memmove(scratch.value, scratch.value + (n_weighted - kept), kept * sizeof(double))
    return distinct(scratch.value, kept)


cdef bint group(PreparedLists self, Py_ssize_t query, const score_t* scores, Groups* groups,
                GroupingScratch* scratch) noexcept nogil:
    cdef Py_ssize_t n = self.offsets[query + 1] - self.offsets[query]
    cdef Py_ssize_t first = self.weighted_offsets[query]
    cdef Py_ssize_t n_weighted = self.weighted_offsets[query + 1] - first
    cdef const int64_t* position = self.weighted_position + first
    cdef Py_ssize_t i, n_values
    cdef int64_t nan, limit
    cdef Py_ssize_t outcome
    cdef bint ordered = True
    scratch.ranked = False
    if self.first_group:
        return group_first(self, query, scores, n, first, n_weighted, groups, scratch)
    if is_sorted(self, query):
        outcome = sort_list(self, query, scores, n, first, n_weighted, groups, scratch)
        if outcome != TIEAWARE_TOO_CLOSE:
            return outcome != TIEAWARE_NO_ORDER
    for i in range(n_weighted):
        scratch.score[i] = scores[position[i]]
        ordered &= scratch.score[i] == scratch.score[i]
    if not ordered:
        return False
    if self.placement == IN_ORDER and self.order == NULL and n_weighted <= self.counting_limit:
        return rank_few(self, query, scores, n, first, n_weighted, groups, scratch)
    if n_weighted <= LANES:
        n_values = assign_few(scratch.score, n_weighted, scratch.value, scratch.group, scratch.first)
    else:
        n_values = distinct_scores(self, scratch, n_weighted)
    limit = limit_of(self, query, n)
    nan = tally(self, scores, n, scratch, n_values, True, limit, scratch.greater, scratch.equal)
    n_values = drop_lowest(scratch, n_weighted, n_values, limit)
    nan -= subtract_excluded(self, query, scores, n_values, scratch)
    scratch.n_values = n_values
    if n_weighted > LANES:
        assign_many(scratch.score, n_weighted, scratch.value, n_values, scratch.group, scratch.interruption)
    if nan or scratch.interruption.stopped:
        return False
    confine(scratch, n_weighted, length(self, query), groups)
    if self.placement == AVERAGE:
        add_weights(self, first, n_weighted, groups, scratch)
    else:
        split(self, query, scores, n, first, n_weighted, groups, scratch)
    return not scratch.interruption.stopped


cdef bint group_first(PreparedLists self, Py_ssize_t query, const score_t* scores, Py_ssize_t n, Py_ssize_t first,
                      Py_ssize_t n_weighted, Groups* groups, GroupingScratch* scratch) noexcept nogil:
    """Write the tied group of the weighted documents with the highest score, and no other group.

    There is one weighting. If a score is NaN, it is not the highest, or no document has the highest score.
    """
    cdef const int64_t* position = self.weighted_position + first
    cdef const double* document_weight = self.weight + first
    cdef int64_t nan, limit = limit_of(self, query, n), own = 0, ranked = length(self, query)
    cdef double top = scores[position[0]] if n_weighted > 0 else 0.0, weight = 0.0
    cdef Py_ssize_t i, n_values = 1 if n_weighted > 0 else 0
    for i in range(n_weighted):
        scratch.score[i] = scores[position[i]]
        top = max(top, scratch.score[i])
    scratch.value[0] = top
    nan = tally(self, scores, n, scratch, n_values, True, limit, scratch.greater, scratch.equal)
    if n_values == 1 and scratch.greater[0] >= limit:
        n_values = 0
    nan -= subtract_excluded(self, query, scores, n_values, scratch)
    for i in range(n_weighted):
        # Do not branch: which document has the highest score cannot be predicted.
        weight += document_weight[i] if scratch.score[i] == top else 0.0
        own += scratch.score[i] == top
    if scratch.numbering:
        for i in range(n_weighted):
            scratch.group[i] = <int64_t>(scratch.score[i] == top) * n_values - 1
    scratch.n_values = groups.count = n_values
    if n_values == 1:
        # Clamp, as `confine` does.
        groups.start[0] = max(min(scratch.greater[0], ranked - n_weighted), <int64_t>0)
        groups.size[0] = max(min(scratch.equal[0], ranked - (n_weighted - own) - groups.start[0]), own)
        groups.weight[0] = weight
    return not nan and not scratch.interruption.stopped and (n_values == 0 or own > 0)


cdef bint group_counted(PreparedLists self, Py_ssize_t query, const int64_t* counts, Groups* groups,
                        GroupingScratch* scratch) noexcept nogil:
    """Group documents by the number of higher scores: they are in one group if these numbers are equal.

    The numbers, negated, serve as scores, because they order and tie the documents as the scores do.
    """
    cdef Py_ssize_t first = self.weighted_offsets[query], base = first - self.weighted_offsets[0]
    cdef Py_ssize_t n_weighted = self.weighted_offsets[query + 1] - first, i, v, n_values
    cdef const int64_t* above = counts + base
    cdef const int64_t* equal = counts + n_counted(self) + base
    cdef int64_t n = length(self, query)
    for i in range(n_weighted):
        # Clamp: doubles do not represent larger numbers exactly.
        scratch.score[i] = -<double>max(min(above[i], n - 1), 0)
    if n_weighted <= LANES:
        n_values = assign_few(scratch.score, n_weighted, scratch.value, scratch.group, scratch.first)
    else:
        n_values = distinct_scores(self, scratch, n_weighted)
        assign_many(scratch.score, n_weighted, scratch.value, n_values, scratch.group, scratch.interruption)
    scratch.n_values = n_values
    for i in range(n_weighted):
        v = n_values - 1 - scratch.group[i]
        if scratch.group[i] >= 0:
            # Each document of a group has the same counts.
            scratch.greater[v] = -<int64_t>scratch.value[v]
            scratch.equal[v] = min(equal[i], n)
    if scratch.interruption.stopped:
        return False
    confine(scratch, n_weighted, n, groups)
    add_weights(self, first, n_weighted, groups, scratch)
    order_groups(self, query, groups, scratch)
    return not scratch.interruption.stopped


cdef Py_ssize_t n_counted(PreparedLists self) noexcept nogil:
    return self.weighted_offsets[self.n_queries] - self.weighted_offsets[0]


cdef void group_all(PreparedLists self, Py_ssize_t query, Groups* groups, GroupingScratch* scratch) noexcept nogil:
    cdef Py_ssize_t first = self.weighted_offsets[query]
    cdef Py_ssize_t n_weighted = self.weighted_offsets[query + 1] - first
    groups.count = 1 if n_weighted > 0 else 0
    groups.start[0] = 0
    groups.size[0] = length(self, query)
    memset(scratch.group, 0, n_weighted * sizeof(int64_t))
    add_weights(self, first, n_weighted, groups, scratch)


cdef Py_ssize_t drop_lowest(GroupingScratch* scratch, Py_ssize_t n_weighted, Py_ssize_t n_values,
                            int64_t limit) noexcept nogil:
    """Drop each distinct score with `limit` or more higher scores in the list; return how many remain."""
    cdef Py_ssize_t i, lowest = 0
    while lowest < n_values and scratch.greater[lowest] >= limit:
        lowest += 1
    if lowest == 0:
        return n_values
    for i in range(lowest, n_values):
        scratch.value[i - lowest] = scratch.value[i]
        scratch.greater[i - lowest] = scratch.greater[i]
        scratch.equal[i - lowest] = scratch.equal[i]
    # If there are more than LANES weighted documents, `assign_many` writes their groups later.
    if n_weighted <= LANES:
        for i in range(n_weighted):
            if scratch.group[i] >= n_values - lowest:
                scratch.group[i] = -1
    return n_values - lowest


cdef bint tabulate(PreparedLists self, const score_t* scores, Py_ssize_t n, Py_ssize_t first, Py_ssize_t n_weighted,
                   Groups* groups, GroupingScratch* scratch) noexcept nogil:
    """Write the groups of a list with few distinct scores; return False if it has many, or a NaN."""
    cdef tieaware_scores found
    cdef uint8_t* number = <uint8_t*>scratch.words
    if score_t is double:
        if not tieaware_tabulate_double(scores, n, number, &found):
            return False
    else:
        if not tieaware_tabulate_float(scores, n, number, &found):
            return False
    groups.count = tieaware_tabulated_groups(&found, number, self.weighted_position + first, n_weighted, self.depth,
                                             groups.start, groups.size, scratch.group)
    return True


cdef inline void order_groups(PreparedLists self, Py_ssize_t query, Groups* groups,
                              GroupingScratch* scratch) noexcept nogil:
    """Order the documents of each group by label, if the tie rule does so."""
    if self.placement == BEST_FIRST or self.placement == WORST_FIRST:
        order_by_label(self, query, groups, scratch, groups if self.placement == BEST_FIRST else NULL,
                       groups if self.placement == WORST_FIRST else NULL)


cdef Py_ssize_t sort_list(PreparedLists self, Py_ssize_t query, const score_t* scores, Py_ssize_t n, Py_ssize_t first,
                          Py_ssize_t n_weighted, Groups* groups, GroupingScratch* scratch) noexcept nogil:
    """Write the groups of one query by sorting its list; return a negative number of ranking.h if that fails."""
    cdef tieaware_ranking list
    cdef bint average = self.placement == AVERAGE
    if (self.placement != IN_ORDER and n >= TIEAWARE_LEAST_TABULATED
            and tabulate(self, scores, n, first, n_weighted, groups, scratch)):
        add_weights(self, first, n_weighted, groups, scratch)
        order_groups(self, query, groups, scratch)
        return groups.count
    list.n, list.depth, list.n_weighted = n, self.depth, n_weighted
    list.sort_narrow, list.sort_wide, list.narrow_chunk = sort_narrow, sort_doubles, narrow_chunk
    list.order = order_of(self, query)
    list.words, list.spare, list.keys, list.end = scratch.words, scratch.spare, scratch.keys, scratch.ends
    list.sums = scratch.sums
    list.document, list.total = scratch.document, scratch.total
    list.start, list.size = groups.start, groups.size
    list.packs = self.packs + self.offsets[query] if average else NULL
    list.weighted_at = self.weighted_at + self.offsets[query]
    list.numbering = scratch.numbering or not self.packed
    list.grouped = False
    if n == 0:
        groups.count = 0
    elif score_t is double:
        groups.count = tieaware_rank_double(scores, &list)
    else:
        groups.count = tieaware_rank_float(scores, &list)
    if groups.count < 0:
        return groups.count
    if average and list.numbering:
        count_packed(self, groups.count, list.grouped, scratch)
        scratch.ranked = self.spread
        if not self.spread or not self.packed:
            number_documents(n_weighted, groups.count, scratch)
    if not list.grouped:
        copy_weights(self, first, groups, scratch)
    elif self.packed:
        unpack_weights(self, groups, scratch)
    else:
        add_weights(self, first, n_weighted, groups, scratch)
    return groups.count


cdef void count_packed(PreparedLists self, Py_ssize_t n_groups, bint grouped, GroupingScratch* scratch) noexcept nogil:
    """Write to first[g] how many weighted documents are in the groups before g. If not `grouped`, each has one."""
    cdef Py_ssize_t g
    scratch.first[0] = 0
    for g in range(n_groups):
        scratch.first[g + 1] = scratch.first[g] + (<int64_t>(scratch.total[g] & self.count_bits) if grouped else 1)


cdef void number_documents(Py_ssize_t n_weighted, Py_ssize_t n_groups, GroupingScratch* scratch) noexcept nogil:
    """Write the index of the group of each weighted document, from the documents in rank order and `first`."""
    cdef Py_ssize_t g
    cdef int64_t i
    memset(scratch.group, -1, n_weighted * sizeof(int64_t))
    for g in range(n_groups):
        for i in range(scratch.first[g], scratch.first[g + 1]):
            scratch.group[scratch.document[i]] = g


cdef void copy_weights(PreparedLists self, Py_ssize_t first, Groups* groups, GroupingScratch* scratch) noexcept nogil:
    """Write the size and the weights of groups that consist of one weighted document each."""
    cdef Py_ssize_t g, c
    cdef double* weight
    cdef double* other
    cdef const double* document_weight
    cdef const double* other_document_weight
    for g in range(groups.count):
        groups.size[g] = 1
    # Two weightings at a time, because looking up the document of each group takes as long as copying a weight.
    for c in range(0, self.n_weightings - 1, 2):
        weight = groups.weight + c * groups.stride
        other = weight + groups.stride
        document_weight = self.weight + c * self.n_weighted + first
        other_document_weight = document_weight + self.n_weighted
        for g in range(groups.count):
            weight[g] = document_weight[scratch.document[g]]
            other[g] = other_document_weight[scratch.document[g]]
    if self.n_weightings % 2 == 1:
        weight = groups.weight + (self.n_weightings - 1) * groups.stride
        document_weight = self.weight + (self.n_weightings - 1) * self.n_weighted + first
        for g in range(groups.count):
            weight[g] = document_weight[scratch.document[g]]


cdef void unpack_weights(PreparedLists self, Groups* groups, GroupingScratch* scratch) noexcept nogil:
    """Write the weights of groups whose packs were added up."""
    cdef double* weight
    cdef const uint64_t* total = scratch.total
    cdef uint64_t bits
    cdef Py_ssize_t c, g
    cdef int shift
    for c in range(self.n_weightings):
        weight = groups.weight + c * groups.stride
        shift, bits = self.fields[c + 1].shift, self.fields[c + 1].bits
        for g in range(groups.count):
            weight[g] = <int32_t>((total[g] >> shift) & bits)


cdef void add_weights(PreparedLists self, Py_ssize_t first, Py_ssize_t n_weighted, Groups* groups,
                      GroupingScratch* scratch) noexcept nogil:
    """Add up the weights of the weighted documents of each group."""
    cdef Py_ssize_t i, c
    cdef double* weight
    cdef const double* document_weight
    for c in range(self.n_weightings):
        weight = groups.weight + c * groups.stride
        document_weight = self.weight + c * self.n_weighted + first
        for i in range(groups.count):
            weight[i] = 0.0
        for i in range(n_weighted):
            if scratch.group[i] >= 0:
                weight[scratch.group[i]] += document_weight[i]


cdef bint rank_few(PreparedLists self, Py_ssize_t query, const score_t* scores, Py_ssize_t n, Py_ssize_t first,
                   Py_ssize_t n_weighted, Groups* groups, GroupingScratch* scratch) noexcept nogil:
    """Find the ranks of a few weighted documents by comparing each of them with every score of the list.

    Tied documents keep the order of the list. Each weighted document becomes a group.
    """
    cdef int64_t* rank = scratch.greater
    cdef int64_t* rank_among_excluded = scratch.equal
    cdef int64_t* by_rank = scratch.group
    cdef Py_ssize_t i, j, c, n_out = n_excluded(self, query)
    cdef int64_t least = 0, most = length(self, query) - n_weighted
    cdef int64_t limit = limit_of(self, query, n)
    cdef int64_t nan = precede(scores, n, scratch.score, self.weighted_rank + first, n_weighted, limit, rank,
                               scratch.interruption)
    # Gather the excluded scores now: the pass over the list has just brought them into the processor's cache.
    if n_out > 0:
        gather_excluded(self, query, scores, scratch)
        nan -= precede(<const score_t*>scratch.excluded, n_out, scratch.score, self.excluded_before + first, n_weighted,
                       NO_LIMIT, rank_among_excluded, scratch.interruption)
        for i in range(n_weighted):
            rank[i] -= rank_among_excluded[i]
    if nan or scratch.interruption.stopped:
        return False
    for i in range(n_weighted):
        j = i
        # Invariant: the documents in by_rank before index i are sorted by rank, and by_rank[j] may be overwritten.
        while j > 0 and rank[by_rank[j - 1]] > rank[i]:
            by_rank[j] = by_rank[j - 1]
            j -= 1
        by_rank[j] = i
    while n > SHORT and n_weighted > 0 and rank[by_rank[n_weighted - 1]] >= self.depth:
        n_weighted -= 1
    groups.count = n_weighted
    for i in range(n_weighted):
        scratch.document[i] = by_rank[i]
        # Clamp, as `confine` does.
        groups.start[i] = max(min(rank[by_rank[i]], most + i), least)
        groups.size[i] = 1
        least = groups.start[i] + 1
        for c in range(self.n_weightings):
            groups.weight[c * groups.stride + i] = self.weight[c * self.n_weighted + first + by_rank[i]]
    return True
