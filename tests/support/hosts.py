"""Hosts on a network of their own, as network namespaces: for what loopback addresses cannot show.

Needs root (CAP_NET_ADMIN and CAP_SYS_ADMIN) and the command ``ip``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from typing import Self

import pytest

NETWORK = "10.77.0"


def require_hosts() -> None:
    """Skip the test, with the reason, if this process may not create network namespaces."""
    if shutil.which("ip") is None:
        pytest.skip("needs the command ip (Debian: iproute2)")
    name = f"kl{os.getpid()}-try"
    made = _ip("netns", "add", name, check=False)
    if made.returncode != 0:
        pytest.skip(f"needs root and network namespaces: {made.stderr.strip()}")
    linked = _ip("-n", name, "link", "add", "br0", "type", "bridge", check=False)
    _ip("netns", "del", name)
    if linked.returncode != 0:
        pytest.skip(f"needs network bridges: {linked.stderr.strip()}")


def _ip(*arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["ip", *arguments], capture_output=True, text=True, check=check)


class Hosts:
    """Hosts 1, 2, … with the addresses 10.77.0.1, 10.77.0.2, …, connected by a switch::

        host 1 ──eth0 ── v1─┐
        host 2 ──eth0 ── v2─┤ br0, in a namespace of its own
        host 3 ──eth0 ── v3─┘

    The machine's own network is not touched. Names carry this process's id, so that tests may run side by side.
    """

    def __init__(self, count: int) -> None:
        self._prefix = f"kl{os.getpid()}-"
        self._switch = f"{self._prefix}switch"
        self._numbers = range(1, count + 1)

    def __enter__(self) -> Self:
        _ip("netns", "add", self._switch)
        _ip("-n", self._switch, "link", "add", "br0", "type", "bridge")
        _ip("-n", self._switch, "link", "set", "br0", "up")
        for number in self._numbers:
            self._add(number)
        return self

    def _add(self, number: int) -> None:
        name, port = self._name(number), f"v{number}"
        _ip("netns", "add", name)
        _ip("link", "add", "name", port, "netns", self._switch, "type", "veth", "peer", "name", "eth0", "netns", name)
        _ip("-n", self._switch, "link", "set", port, "master", "br0", "up")
        _ip("-n", name, "addr", "add", f"{self.address(number)}/24", "dev", "eth0")
        _ip("-n", name, "link", "set", "eth0", "up")
        _ip("-n", name, "link", "set", "lo", "up")

    def __exit__(self, *_: object) -> None:
        for name in (*map(self._name, self._numbers), self._switch):
            _ip("netns", "del", name, check=False)

    def _name(self, number: int) -> str:
        return f"{self._prefix}{number}"

    def address(self, number: int) -> str:
        """The address of a host."""
        return f"{NETWORK}.{number}"

    def command(self, number: int, command: Sequence[str]) -> list[str]:
        """The command, to be run on a host. It becomes the process itself, so it can be killed as usual."""
        return ["ip", "netns", "exec", self._name(number), *command]

    def unplug(self, number: int) -> None:
        """Pull a host's cable: nothing reaches it, and nobody is told."""
        _ip("-n", self._switch, "link", "set", f"v{number}", "down")

    def plug_in(self, number: int) -> None:
        """End ``unplug``."""
        _ip("-n", self._switch, "link", "set", f"v{number}", "up")
