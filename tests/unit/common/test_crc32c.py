"""The checksum of record batches, computed by the extension module of the package crc32c."""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder

import crc32c as package
import pytest

from kafka_lite.common import crc32c as module
from kafka_lite.common import pure_python_crc32c


def test_checksum_of_the_standard_test_vector() -> None:
    assert module.crc32c(b"123456789") == 0xE3069283  # RFC 3720, B.4, has the polynomial


def test_a_checksum_can_be_continued() -> None:
    assert module.crc32c(b"6789", module.crc32c(b"12345")) == module.crc32c(memoryview(b"123456789"))


def test_the_package_is_imported_if_its_extension_is_not_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    assert module._extension() is not package
    monkeypatch.setattr(PathFinder, "find_spec", lambda name, path=None: None)
    assert module._extension() is package


def test_python_computes_it_on_a_host_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PathFinder, "find_spec", lambda name, path=None: None)
    monkeypatch.setitem(sys.modules, "crc32c", None)
    assert module._extension() is pure_python_crc32c
