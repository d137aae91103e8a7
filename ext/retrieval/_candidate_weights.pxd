"""The weights of candidates."""
from libc.stdint cimport int32_t, int64_t

from tieaware.kernels._entry_bounds cimport Filter
from tieaware.kernels._interruption cimport Interruption
from tieaware.kernels._term_lists cimport Lists
from tieaware.kernels._unions cimport Candidates


# Add the weights of all lists to the sums of the candidates; return the number of postings that were added. The filters
# and the cuts are those of the lists, or NULL: only weights above the cut of a list count and, of those equal to it,
# the weights of documents up to the cut.
cdef int64_t add_weights(
    Candidates* candidates, Lists* lists, const Filter* filters, const double* cut_weights,
    const int32_t* cut_documents, Interruption* interruption
) noexcept nogil
