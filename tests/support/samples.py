"""Captured bytes of real brokers, kept as hex with comments in tests/data."""

from __future__ import annotations

from pathlib import Path

DATA = Path(__file__).parent.parent / "data"


def hex_sample(name: str) -> bytes:
    """The bytes of ``tests/data/<name>``; lines that start with # are comments."""
    lines = (DATA / name).read_text().splitlines()
    return bytes.fromhex("".join(line for line in lines if not line.startswith("#")))
