"""symsim: symbolic verification of theory papers."""

__version__ = "0.1.0"
