"""The names by which a server may be called: what guards against pages of other sites (DNS rebinding)."""

from __future__ import annotations

import re
import socket
from contextlib import suppress
from ipaddress import ip_address

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_EVERYWHERE = frozenset({"", "0.0.0.0", "::"})
_AUTHORITY = re.compile(
    r"(?:https?://)?(?:\[([0-9a-f:.]+)\]|([^\[\]:/?#@\s]+))(?::\d*)?", re.IGNORECASE
).fullmatch


class Names:
    """The names by which a server may be called. A page of another site has another name, whatever address it is for.

    >>> names = Names("127.0.0.1")
    >>> names.include("localhost:8000"), names.include("http://[::1]:80"), names.include("evil.example")
    (True, True, False)
    """

    def __init__(self, host: str) -> None:
        self._names = {*_LOOPBACK, host.lower()} - _EVERYWHERE
        self._addresses = host in _EVERYWHERE
        if self._addresses:
            self._names.add(socket.gethostname().lower())

    def include(self, authority: str) -> bool:
        """Whether the value of a header Host or Origin names this server."""
        found = _AUTHORITY(authority)
        if found is None:
            return False
        name = (found[1] or found[2]).lower().rstrip(".")
        return name in self._names or (self._addresses and _is_address(name))


def _is_address(name: str) -> bool:
    with suppress(ValueError):
        return bool(ip_address(name))
    return False
