"""The version: here once. The build reads it from this file, and a test compares CITATION.cff with it."""

__version__ = "0.1.0"
