from tieaware._groups cimport Groups
from tieaware._measure cimport Measure


cdef double variance(const Measure* measure, const Groups* groups, double norm) noexcept nogil
