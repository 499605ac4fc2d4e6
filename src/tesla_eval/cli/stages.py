"""Progress of work that goes through several stages."""

from __future__ import annotations

from contextlib import ExitStack

from tesla_eval.cli.terminal import Progress, progress

__all__ = ["Stages"]


class Stages:
    """One progress bar after the other."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._stage = ""
        self._bar: Progress | None = None

    def __enter__(self) -> Stages:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def tell(self, stage: str, done: int) -> None:
        """So much more of this stage is done."""
        if stage != self._stage:
            self._stack.close()
            self._stage = stage
            self._bar = self._stack.enter_context(progress(stage))
        if self._bar is not None and done:
            self._bar.advance(done)
