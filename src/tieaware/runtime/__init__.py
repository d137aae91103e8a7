"""Threads, progress, atomic files and optional packages."""
