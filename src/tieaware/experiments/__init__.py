"""The experiments of the papers on ties and precision, one module each.

Each returns an object with its numbers (``table()``), its figure (``plot()``) and its export (``to_csv(path)``).
"""
