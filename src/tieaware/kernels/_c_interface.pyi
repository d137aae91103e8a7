# A capsule with a pointer to the struct `tieaware_functions` of include/tieaware.h.
functions: object
