"""New groups of documents from the tie groups of a query.

For a tie rule that orders documents, each weighted document becomes a group of its own, at its place. `band` merges
groups whose ranks lie in the same band, `condense` removes unjudged documents, and `carry` completes weights.
"""
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from tieaware.kernels._counting cimport CHUNK, LANES, count_equal, find, score_t
from tieaware.kernels._exact cimport MOST_PARTS, double_double, rounded_sum, two_sum
from tieaware.kernels._groups cimport (
    BEST_FIRST, WORST_FIRST, Groups, GroupingScratch, PreparedLists, n_excluded, order_of,
)
from tieaware.kernels._interruption cimport interrupted


cdef void split(PreparedLists self, Py_ssize_t query, const score_t* scores, Py_ssize_t n, Py_ssize_t first,
                Py_ssize_t n_weighted, Groups* groups, GroupingScratch* scratch) noexcept nogil:
    """Make each weighted document a group of its own, at its place inside its tied group under the tie rule."""
    cdef const int64_t* order = order_of(self, query)
    cdef int64_t* place = scratch.histogram
    cdef int64_t* place_among_excluded = scratch.histogram + groups.stride
    cdef Py_ssize_t i, g, v, tied = 0, n_out = n_excluded(self, query)
    cdef int64_t nth, least, most
    if self.placement == BEST_FIRST or self.placement == WORST_FIRST:
        place_by_label(self, first, n_weighted, scratch, groups if self.placement == BEST_FIRST else NULL,
                       groups if self.placement == WORST_FIRST else NULL)
        return
    for i in range(n_weighted):
        place[i] = place_among_excluded[i] = 0
        tied += is_tied(scratch, i)
    if tied > 0:
        find_places(scores, n, order, self.weighted_rank + first, n_weighted, tied <= self.counting_limit, scratch,
                    place)
        if n_out > 0:
            find_places(<const score_t*>scratch.excluded, n_out, NULL, self.excluded_before + first, n_weighted,
                        tied <= self.counting_limit, scratch, place_among_excluded)
    count_weighted(scratch, n_weighted)
    groups.count = scratch.first[scratch.n_values]
    for i in range(n_weighted):
        g = scratch.group[i]
        if g >= 0:
            v, nth = scratch.n_values - 1 - g, scratch.taken[g]
            # Clamp, as `confine` does: the documents of a group have different places, in this order.
            least = groups.start[scratch.first[g] + nth - 1] + 1 - scratch.greater[v] if nth > 0 else 0
            most = scratch.equal[v] - (scratch.first[g + 1] - scratch.first[g]) + nth
            scratch.document[scratch.first[g] + nth] = i
            put(self, first + i, g, nth, max(min(place[i] - place_among_excluded[i], most), least), scratch, groups)
            scratch.taken[g] += 1


cdef inline bint is_tied(const GroupingScratch* scratch, Py_ssize_t i) noexcept nogil:
    """Return whether weighted document i shares its group with another document."""
    return scratch.group[i] >= 0 and scratch.equal[scratch.n_values - 1 - scratch.group[i]] > 1


cdef void count_weighted(GroupingScratch* scratch, Py_ssize_t n_weighted) noexcept nogil:
    """Write to first[g] how many weighted documents are in the tied groups before g, and set taken[g] to 0."""
    cdef Py_ssize_t i, g
    memset(scratch.first, 0, (scratch.n_values + 1) * sizeof(int64_t))
    memset(scratch.taken, 0, scratch.n_values * sizeof(int64_t))
    for i in range(n_weighted):
        if scratch.group[i] >= 0:
            scratch.first[scratch.group[i] + 1] += 1
    for g in range(scratch.n_values):
        scratch.first[g + 1] += scratch.first[g]


cdef inline void put(PreparedLists self, Py_ssize_t document, Py_ssize_t g, int64_t nth, int64_t place,
                     const GroupingScratch* scratch, Groups* ordered) noexcept nogil:
    """Write a group that consists of one weighted document of tied group g.

    `place` is the number of documents of group g that are ranked above this document; `nth` is how many of them are
    weighted.
    """
    cdef Py_ssize_t c, slot = scratch.first[g] + nth
    ordered.start[slot] = scratch.greater[scratch.n_values - 1 - g] + place
    ordered.size[slot] = 1
    for c in range(self.n_weightings):
        ordered.weight[c * ordered.stride + slot] = self.weight[c * self.n_weighted + document]


cdef void place_by_label(PreparedLists self, Py_ssize_t first, Py_ssize_t n_weighted, GroupingScratch* scratch,
                         Groups* best, Groups* worst) noexcept nogil:
    """Make each weighted document a group of its own, in the best and in the worst order of tied documents.

    In `best`, the weighted documents come first in their tied group, by label, descending. In `worst`, they come last,
    by label, ascending. Either of the two may be NULL.
    """
    cdef int64_t* document = scratch.histogram
    cdef Py_ssize_t nth, i, g
    count_weighted(scratch, n_weighted)
    for nth in range(n_weighted):
        i = nth if self.by_label == NULL else self.by_label[first + nth] - first
        g = scratch.group[i]
        if g >= 0:
            document[scratch.first[g] + scratch.taken[g]] = i
            scratch.taken[g] += 1
    write_by_label(self, first, document, scratch, best, worst)


cdef void write_by_label(PreparedLists self, Py_ssize_t first, const int64_t* document, GroupingScratch* scratch,
                         Groups* best, Groups* worst) noexcept nogil:
    """Do the work of `place_by_label`; `document` has the weighted documents of all groups in the best order."""
    cdef int64_t* begun = scratch.histogram + self.most_weighted + 1
    cdef Py_ssize_t g
    memset(begun, 0, (scratch.first[scratch.n_values] + 1) * sizeof(int64_t))
    for g in range(scratch.n_values):
        begun[scratch.first[g]] += 1
    if best != NULL:
        write_order(self, first, document, begun, scratch, False, best)
    if worst != NULL:
        write_order(self, first, document, begun, scratch, True, worst)


cdef inline void write_order(PreparedLists self, Py_ssize_t first, const int64_t* document, const int64_t* begun,
                             GroupingScratch* scratch, bint reverse, Groups* ordered) noexcept nogil:
    """Write the weighted documents of all tied groups in the best order, or if `reverse`, in the worst one.

    Documents that no measure looks at are left out. begun[slot] is the number of groups that begin at this slot of the
    best order. So no loop has a branch that depends on the groups.
    """
    cdef const int64_t* begin = scratch.first
    cdef const int64_t* greater = scratch.greater
    cdef const int64_t* equal = scratch.equal
    cdef int64_t* start = ordered.start
    cdef int64_t* source = scratch.taken
    cdef const double* document_weight
    cdef double* weight
    cdef Py_ssize_t c, slot, g = -1, v = scratch.n_values, n = scratch.first[scratch.n_values]
    cdef int64_t kept = 0, depth = self.depth
    if self.first_group:
        n = min(n, 1)
    for slot in range(n):
        g += begun[slot]
        v -= begun[slot]
        start[slot] = greater[v] + slot - begin[g]
        source[slot] = document[slot]
        if reverse:
            start[slot] += equal[v] - (begin[g + 1] - begin[g])
            source[slot] = document[begin[g] + begin[g + 1] - 1 - slot]
        kept += start[slot] < depth
    ordered.count = kept
    for slot in range(kept):
        ordered.size[slot] = 1
    for c in range(self.n_weightings):
        weight = ordered.weight + c * ordered.stride
        document_weight = self.weight + c * self.n_weighted + first
        for slot in range(kept):
            weight[slot] = document_weight[source[slot]]


cdef void order_by_label(PreparedLists lists, Py_ssize_t query, const Groups* tied, GroupingScratch* scratch,
                         Groups* best, Groups* worst) noexcept nogil:
    cdef Py_ssize_t first = lists.weighted_offsets[query], n_weighted = lists.weighted_offsets[query + 1] - first
    restore_counts(tied, scratch)
    if scratch.ranked:
        write_by_label(lists, first, scratch.document, scratch, best, worst)
    else:
        place_by_label(lists, first, n_weighted, scratch, best, worst)


cdef void order_bands_by_label(PreparedLists lists, Py_ssize_t query, Py_ssize_t n_ranked, const Groups* banded,
                               GroupingScratch* scratch, Groups* best, Groups* worst) noexcept nogil:
    cdef Py_ssize_t first = lists.weighted_offsets[query], n_weighted = lists.weighted_offsets[query + 1] - first, g
    memset(scratch.group, -1, n_weighted * sizeof(int64_t))
    for g in range(n_ranked):
        scratch.group[scratch.document[g]] = scratch.merged[g]
    restore_counts(banded, scratch)
    place_by_label(lists, first, n_weighted, scratch, best, worst)


cdef void restore_counts(const Groups* tied, GroupingScratch* scratch) noexcept nogil:
    """Write `greater` and `equal` in `scratch` as counting would have written them for these tied groups."""
    cdef Py_ssize_t g, n = tied.count
    scratch.n_values = n
    for g in range(n):
        scratch.greater[n - 1 - g] = tied.start[g]
        scratch.equal[n - 1 - g] = tied.size[g]


cdef void find_places(const score_t* scores, Py_ssize_t n, const int64_t* order, const int64_t* rank,
                      Py_ssize_t n_weighted, bint few, GroupingScratch* scratch, int64_t* place) noexcept nogil:
    """Write to place[i] how many of the first rank[i] documents in the order have the score of weighted document i.

    The place of a weighted document without ties is not needed and may be left unwritten.
    """
    cdef Py_ssize_t i
    if not few:
        place_by_sweeping(scores, n, order, rank, n_weighted, scratch, place)
        return
    for i in range(n_weighted):
        if is_tied(scratch, i):
            place[i] = count_equal(scores, order, rank[i], scratch.score[i], scratch.interruption)


cdef void place_by_sweeping(const score_t* scores, Py_ssize_t n, const int64_t* order, const int64_t* rank,
                            Py_ssize_t n_weighted, GroupingScratch* scratch, int64_t* place) noexcept nogil:
    """Do the work of `find_places` in one walk along the order. met[v] counts the documents so far with score v."""
    cdef int64_t below[LANES]
    cdef score_t lanes[LANES]
    cdef Py_ssize_t i, width, at = 0, document = 0, n_values = scratch.n_values
    # The array `taken` is not in use yet, so it serves as working memory here. A document in no group has the group -1
    # and reads met[n_values], which stays 0.
    cdef int64_t* met = scratch.taken
    memset(met, 0, (n_values + 1) * sizeof(int64_t))
    while at < n:
        width = min(<Py_ssize_t>LANES, n - at)
        for i in range(LANES):
            if order == NULL:
                lanes[i] = scores[at + min(i, width - 1)]
            else:
                lanes[i] = scores[order[at + min(i, width - 1)]]
        find(lanes, scratch.value, n_values, below)
        for i in range(width):
            while document < n_weighted and rank[document] == at + i:
                place[document] = met[n_values - 1 - scratch.group[document]]
                document += 1
            if below[i] < n_values and scratch.value[below[i]] == lanes[i]:
                met[below[i]] += 1
        at += width
        if at % CHUNK == 0 and interrupted(scratch.interruption, 64 * CHUNK):
            return
    while document < n_weighted:
        place[document] = met[n_values - 1 - scratch.group[document]]
        document += 1


cdef void band(const Groups* ranked, Bands bands, int64_t n, Py_ssize_t n_weightings, Groups* banded,
               int64_t* merged) noexcept nogil:
    cdef Py_ssize_t g, c, low, half, length, count = 0
    cdef int64_t start, last = -1
    for g in range(ranked.count):
        # Find the last band that begins at or before the rank of the document of group g, by binary search. Invariant:
        # start[low] <= rank, and rank < start[low + length] if that element exists.
        low = 0
        length = bands.count
        while length > 1:
            half = length // 2
            low += half if bands.start[low + half] <= ranked.start[g] + 1 else 0
            length -= half
        start = bands.start[low] - 1
        if start != last:
            banded.start[count] = start
            banded.size[count] = min(bands.start[low + 1] - 1 if low + 1 < bands.count else n, n) - start
            for c in range(n_weightings):
                banded.weight[c * banded.stride + count] = 0.0
            count += 1
            last = start
        merged[g] = count - 1
        for c in range(n_weightings):
            banded.weight[c * banded.stride + count - 1] += ranked.weight[c * ranked.stride + g]
    banded.count = count


cdef void carry(const int32_t* carries, Py_ssize_t n_weightings, Groups* groups) noexcept nogil:
    cdef double digits[MOST_PARTS]
    cdef double* weight
    cdef double* further
    cdef double_double s
    cdef Py_ssize_t c, j, n, g
    for c in range(n_weightings):
        n = carries[2 * c + 1]
        if n == 0:
            continue
        weight = groups.weight + c * groups.stride
        further = groups.weight + carries[2 * c] * groups.stride
        if n == 1:
            for g in range(groups.count):
                s = two_sum(weight[g], further[g])
                weight[g] = s.high
                further[g] = s.low
            continue
        for g in range(groups.count):
            digits[0] = weight[g]
            for j in range(n):
                digits[j + 1] = further[j * groups.stride + g]
            weight[g] = rounded_sum(digits, 1, n + 1)
            digits[n + 1] = -weight[g]
            further[g] = rounded_sum(digits, 1, n + 2)


cdef void condense(const Groups* groups, int judged, Groups* condensed) noexcept nogil:
    """Remove the unjudged documents from each group.

    Invariant: `before` is the number of judged documents in the groups before group g.
    """
    cdef const double* weight = groups.weight + judged * groups.stride
    cdef Py_ssize_t g
    cdef int64_t before = 0
    for g in range(groups.count):
        condensed.start[g] = before
        condensed.size[g] = <int64_t>weight[g]
        before += condensed.size[g]
    condensed.count = groups.count
    # Removing unjudged documents does not change the weight of a group, so `condensed` shares the array of weights.
    condensed.weight = groups.weight
    condensed.stride = groups.stride
