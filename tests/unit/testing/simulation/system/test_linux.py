"""The numbers of a world's constants are Linux's."""

from __future__ import annotations

import _socket
import fcntl
import os
import select
import sys
from collections.abc import Mapping
from types import ModuleType

import pytest

from kafka_lite.testing.simulation.system import linux


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other numbers")
@pytest.mark.parametrize(
    ("module", "numbers"),
    [(fcntl, linux.FCNTL), (os, linux.SEEK), (select, linux.POLL), (_socket, linux.SOCKET)],
)
def test_they_are_those_of_this_linux(module: ModuleType, numbers: Mapping[str, int]) -> None:
    assert numbers
    here = {name: getattr(module, name) for name in numbers if hasattr(module, name)}
    assert numbers == numbers | here
    assert len(here) > 0.9 * len(numbers)
