"""The weights of candidates."""
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from tieaware.kernels._entry_bounds cimport Filter
from tieaware.kernels._interruption cimport Interruption
from tieaware.kernels._term_lists cimport TermLists


# The candidates, in ascending order, with the sums of their weights. `bits` is NULL, or a bitmap of the candidates with
# the ranks of its words.
cdef struct Candidates:
    int64_t n
    int32_t* documents
    double* sums
    uint64_t* bits
    uint32_t* ranks
    uint32_t n_documents


# Add the weights of all lists to the sums of the candidates; return the number of postings that were added. The filters
# and the cuts are those of the lists, or NULL: only weights above the cut of a list count and, of those equal to it,
# the weights of documents up to the cut.
cdef int64_t add_weights(
    Candidates* candidates, TermLists* lists, const Filter* filters, const double* cut_weights,
    const int32_t* cut_documents, Interruption* interruption
) noexcept nogil
