"""The commands of the command line, one module each.

The module of a command has a function ``add(commands)``, which adds the command's parser. The parser's default ``run``
is a function from the parsed arguments to the text to print.
"""
