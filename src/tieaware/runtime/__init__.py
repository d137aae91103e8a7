"""The thread pool, the progress display, atomic files and optional packages."""
