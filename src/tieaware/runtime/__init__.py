"""The thread pool, the progress display, atomic writing of files, import of optional packages, and timing."""
