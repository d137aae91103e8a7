"""Runs: the class Run, the forms in which runs are passed, and their match with judgments."""
