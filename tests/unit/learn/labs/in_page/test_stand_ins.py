"""What a page does not have can be imported, and says so when it is used."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import sys
from pathlib import Path

import pytest

from kafka_learn.labs.in_page import stand_ins
from kafka_learn.labs.in_page.stand_ins import NeedsCloneError


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that has none of them; the real ones are back after the test."""
    names = {"ssl", "_ssl", "fcntl", *stand_ins.CLIENTS}
    found = importlib.util.find_spec
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in names else found(name))
    stand_ins.install()


def test_files_are_locked_and_tls_is_named(without: None) -> None:
    fcntl, ssl = importlib.import_module("fcntl"), importlib.import_module("ssl")
    assert fcntl.flock(3, fcntl.LOCK_EX | fcntl.LOCK_NB) == 0
    assert issubclass(ssl.SSLError, OSError)


def test_a_real_client_can_be_imported_and_not_made(without: None) -> None:
    from confluent_kafka import Consumer
    from confluent_kafka.admin import AdminClient

    for kind in (Consumer, AdminClient):
        with pytest.raises(NeedsCloneError, match="needs sockets: check this lab in a clone"):
            kind({})


def test_what_the_host_has_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    stand_ins.install()
    assert sys.modules["fcntl"] is fcntl
    assert hasattr(fcntl, "ioctl")


@pytest.mark.parametrize("blocks", [[1, 1], [1, 0, 1], [0, 1], [1, 0], []])
def test_a_hole_is_the_first_block_of_zeros(tmp_path: Path, blocks: list[int]) -> None:
    content = b"".join(bytes([value]) * stand_ins.BLOCK for value in blocks) + b"end"
    (tmp_path / "file").write_bytes(content)
    with open(tmp_path / "file", "rb") as file:
        found = stand_ins.lseek(os.lseek, file.fileno(), 0, os.SEEK_HOLE)
        assert found == (blocks.index(0) * stand_ins.BLOCK if 0 in blocks else len(content))
        assert stand_ins.lseek(os.lseek, file.fileno(), 0, os.SEEK_END) == len(content)


@pytest.mark.parametrize(
    ("hash_name", "iterations", "length"), [("sha256", 1, None), ("sha512", 40, None), ("sha1", 3, 45)]
)
def test_keys_are_derived_as_by_openssl(hash_name: str, iterations: int, length: int | None) -> None:
    asked = (hash_name, b"pencil", b"salt", iterations, length)
    assert stand_ins.pbkdf2_hmac(*asked) == hashlib.pbkdf2_hmac(*asked)
