"""Locks that are safe after a fork: the child lacks the threads that may have held them."""

from __future__ import annotations

import os
import sys
import threading
import time
import weakref
from functools import cached_property
from typing import Any

_ATTEMPTS = 100
_PAUSE = 0.001  # seconds

_locks: list[weakref.ref[Any]] = []
_forking = threading.local()  # .held: the locks that the thread which forks has taken


def new_lock() -> threading.Lock:
    """A lock that is free in a forked child. A fork waits a moment for it, so that what it guards is not half-changed.

    >>> with new_lock() as is_held:
    ...     is_held
    True
    """
    lock = threading.Lock()
    _locks.append(weakref.ref(lock, _locks.remove))
    return lock


def _living() -> list[Any]:
    return [lock for reference in _locks.copy() if (lock := reference()) is not None]


def _take_all() -> None:
    """Take all locks, or none while another thread holds one: two threads never wait for each other."""
    for _ in range(_ATTEMPTS):
        locks = _living()
        _forking.held = [lock for lock in locks if lock.acquire(blocking=False)]
        if len(_forking.held) == len(locks):
            return
        _release_all()
        time.sleep(_PAUSE)


def _release_all() -> None:
    while _forking.held:
        _forking.held.pop().release()


def _renew_all() -> None:
    for lock in (*_living(), *_locks_of_cached_properties()):
        lock._at_fork_reinit()


def _locks_of_cached_properties() -> list[Any]:
    """Before Python 3.12 each cached property has a lock, which is held while a value is computed."""
    if sys.version_info >= (3, 12):
        return []
    modules = [module for name, module in list(sys.modules.items()) if name.startswith("tesla_eval")]
    classes = {
        value for module in modules for value in list(vars(module).values()) if isinstance(value, type)
    }
    return [
        value.lock  # type: ignore[attr-defined]
        for one in classes
        for value in list(vars(one).values())
        if isinstance(value, cached_property)
    ]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_take_all, after_in_parent=_release_all, after_in_child=_renew_all)
