"""The version of this package; the build reads it from here. Between releases it is the next one's, with .dev0."""

__version__ = "0.3.0.dev0"
