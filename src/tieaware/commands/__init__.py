"""The commands of the command line, one module each.

A module has ``add(commands)``, which adds its parser, and a function from the parsed arguments to what is printed.
"""
