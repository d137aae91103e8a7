"""The compiled kernels; their sources are in ext/."""
