"""The accumulators of a chunk of documents, and the functions that add posting lists to them."""
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from tieaware.kernels._term_lists cimport TermLists
from tieaware.kernels._top cimport Best


cdef extern from "retrieval/accumulators.h":
    # The number of accumulators that a word of marks stands for.
    enum: TIEAWARE_WORD


# The accumulators of a chunk of documents, from the document `first` on. Documents with a posting are marked, except in
# a dense chunk. The first n_dirty accumulators have scores of an earlier chunk: they are cleared when a list is added
# posting by posting, and a list in dense form overwrites them. If `reached` is allocated, the lists that contain a
# document are counted, and `reached` marks the documents in enough lists. `planes` has n_planes binary digits of each
# counter: a plane has one digit of all counters, in n_words words. Counters begin at `initial`, so that those of
# documents in enough lists overflow.
cdef struct Chunk:
    uint32_t first
    uint32_t size
    bint is_dense
    Py_ssize_t n_dirty
    double* scores
    uint64_t* marks
    uint64_t* reached
    uint64_t* planes
    Py_ssize_t n_words
    int n_planes
    uint64_t initial
    # For each list, whether its row was added to earlier chunks and its postings there, from the next unread posting
    # on, are not counted yet. Searching for the end of each chunk in the list would take longer than adding the row.
    uint8_t* is_uncounted


cdef inline Py_ssize_t words_of(Py_ssize_t size) noexcept nogil:
    return (size + TIEAWARE_WORD - 1) // TIEAWARE_WORD


# Allocate zeroed accumulators for `size` documents and n_lists lists; with at_least > 0, count the lists up to it.
cdef int open_chunk(Chunk* chunk, Py_ssize_t size, Py_ssize_t n_lists, uint32_t at_least) except -1

cdef void close_chunk(Chunk* chunk) noexcept

# Add the postings of list i in this chunk; return the index of the list's first posting that is not counted as read.
cdef int64_t add_list(TermLists* lists, Py_ssize_t i, Chunk* chunk) noexcept nogil

# Count the postings of list i before this document as read, if its row was added to the chunks before.
cdef void count_row(TermLists* lists, Py_ssize_t i, Chunk* chunk, uint32_t document) noexcept nogil

# Add 1 to the counters of the chunk's documents in list i, whose postings before `end` were added.
cdef void count_list(TermLists* lists, Py_ssize_t i, int64_t end, Chunk* chunk) noexcept nogil

# Reset the counters of a chunk.
cdef void begin_counting(Chunk* chunk) noexcept nogil

# Clear the accumulators of a chunk whose scores were taken.
cdef void finish(Chunk* chunk) noexcept nogil

# Offer all documents of a chunk with a score above 0, in ascending order, and clear the accumulators.
cdef void take(Chunk* chunk, Best* best) noexcept nogil

# Offer the documents of a chunk that are in enough lists, and clear the accumulators.
cdef void take_counted(Chunk* chunk, Best* best, const double* base, const int32_t* order) noexcept nogil
