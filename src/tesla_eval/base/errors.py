"""The errors and warnings that users see; each says what to do. All errors are subclasses of `TeslaError`."""

from __future__ import annotations

import importlib
import sys
import warnings
from types import ModuleType

_KERNEL_VARIABLE = "TESLA_EVAL_KERNEL"
_PACKAGE = __name__.partition(".")[0]
GET_PAPERS = 'pip install "tesla-eval[papers]", or in a clone: pip install ./packages/papers'
"""How to get what the papers have beyond the metrics of this package."""


class TeslaError(Exception):
    """Root of all errors that tesla-eval raises on purpose; `hint` says what to do, on a line of its own.

    >>> print(TeslaError("there is no metric 'blue'", hint="did you mean bleu?"))
    there is no metric 'blue'
    hint: did you mean bleu?
    """

    def __init__(self, message: str = "", *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint

    def __str__(self) -> str:
        message = super().__str__()
        return message if self.hint is None else f"{message}\nhint: {self.hint}"


class InputError(TeslaError, ValueError):
    """A text or file that was given is not what it should be; the message names file and line."""


class SegmentError(InputError):
    """A segment that a metric refuses, by its index in what the metric was given.

    Whoever scored a part of more segments says by `moved` which one it is there.

    >>> print(SegmentError(InputError("the text is too long"), 2).moved(7, "sysA"))
    sysA, segment 8: the text is too long
    """

    def __init__(self, reason: InputError, segment: int, system: str = "") -> None:
        place = f"{system}, segment {segment + 1}" if system else f"segment {segment + 1}"
        super().__init__(f"{place}: {Exception.__str__(reason)}", hint=reason.hint)
        self.reason, self.segment, self.system = reason, segment, system

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.reason, self.segment, self.system)

    def moved(self, segment: int, system: str = "") -> SegmentError:
        """The same refusal, with the index that the segment has among more segments, and its system."""
        return SegmentError(self.reason, segment, system or self.system)

    def at(self, place: str) -> InputError:
        """The error where segments have other names."""
        return InputError(f"{place}: {Exception.__str__(self.reason)}", hint=self.reason.hint)


class UsageError(TeslaError, ValueError):
    """A parameter, metric or language that does not exist or does not fit the others."""


class ResourceError(TeslaError):
    """A model or table is missing, damaged, or made for another analysis."""


class BuildError(TeslaError):
    """Training data from which nothing can be built."""


class TeslaWarning(UserWarning):
    """Something a user should look at, although a result can be given; the command line shows it as a message."""


def warn(message: str) -> None:
    """Warn the caller of the package, however deep in it this is called."""
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, TeslaWarning, stacklevel=level)


def import_module(name: str) -> ModuleType:
    """A module of this package; a core that refuses to start is reported as the user's error.

    The variable TESLA_EVAL_KERNEL may name a kernel that this machine lacks.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        if _KERNEL_VARIABLE not in str(error):
            raise
        raise UsageError(str(error)) from None


def need_package(module: str, install: str, what: str = "this") -> None:
    """Refuse, before any work is done, what needs a package that is not installed; `install` is what pip takes."""
    from importlib.util import find_spec  # rarely needed

    try:
        present = find_spec(module) is not None
    except ValueError:  # a module that was put into sys.modules by hand
        present = False
    if not present:
        raise UsageError(f"{what} needs {module}, which is not installed: pip install {install}")
