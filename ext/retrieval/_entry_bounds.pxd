"""Bounds of the scores of documents in lists of candidates, by which entries are left out."""
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from tieaware.kernels._term_lists cimport TermLists
from tieaware.kernels._top cimport Best


# The filter of a term: bits of documents, which several documents may share. The number of words is 0 or a power of 2.
cdef struct Filter:
    const uint64_t* words
    int64_t n_words


# Bounds of the scores of a query's candidates. The entries of list i have the weights of its term.
cdef struct Bounds:
    # For each list: query_weight · the largest weight of the term, · that of the documents that the list lacks, and ·
    # the k-th largest weight of the entries, 0 if there are fewer.
    double* largest
    double* missing
    double* kth
    # The filter of each list's term, for terms without a bitmap.
    Filter* filters
    # NULL, or the base of the document of each entry; and the largest base of all documents.
    const double* bases
    double most_base
    # True if `missing` was made from the largest sums of weight and base: query_weight · sum.
    bint is_with_base
    # A score that k candidates reach; the list that gives it, and whether all its entries were offered to the best.
    double floor
    Py_ssize_t floor_list
    bint is_offered


# A tile: n entries of a list, from entry `first` on, with upper bounds of their scores. Those whose document may reach
# the floor are marked; `seen` has the bits of those whose document may be in an earlier list.
cdef struct Tile:
    Py_ssize_t list
    int64_t first
    int n
    # True if bits that are looked up for the entries have to be prefetched.
    bint fetches
    uint64_t marks
    uint64_t seen
    double[64] bounds


# Memory that one query after another uses: for each entry that is kept, its document and an upper bound of its score;
# the tiles of the list that is being read; a filter that finds documents that may be in an earlier list; and the order
# of lists.
cdef struct Narrowing:
    int64_t n_documents
    # True if the documents of a list ascend.
    bint ascending
    int32_t* documents
    double* bounds
    Tile* tiles
    Py_ssize_t n_tiles
    uint64_t* filter
    Py_ssize_t* order


cdef int open_narrowing(
    Narrowing* narrowing, int64_t most_entries, int64_t most_lists, int64_t n_documents, bint ascending
) except -1

cdef void close_narrowing(Narrowing* narrowing) noexcept

# Return whether the weights of the query allow bounds of scores.
cdef bint has_bounds(const TermLists* lists, const TermLists* entries) noexcept nogil

# Find the floor, by the entries of a single list, which may be offered to the best.
cdef void find_floor(const TermLists* entries, Bounds* bounds, Best* best) noexcept nogil

# Raise the floor by all lists, and leave out entries whose documents have a score below it; return the number of
# entries that were read.
cdef int64_t narrow(
    TermLists* entries, const TermLists* lists, Bounds* bounds, Narrowing* narrowing, Best* best
) noexcept nogil
