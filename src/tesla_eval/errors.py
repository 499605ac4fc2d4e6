"""The errors a user can meet: every one is a `TeslaError`, and its message says what to do."""

__all__ = ["BuildError", "InputError", "ResourceError", "TeslaError", "UsageError"]


class TeslaError(Exception):
    """Root of all errors that tesla-eval raises on purpose."""


class InputError(TeslaError, ValueError):
    """A text or file that was given is not what it should be; the message names file and line."""


class UsageError(TeslaError, ValueError):
    """A parameter, metric or language that does not exist or does not fit the others."""


class ResourceError(TeslaError):
    """A model or table is missing, damaged, or made for another analysis."""


class BuildError(TeslaError):
    """Training data from which nothing can be built."""
