"""Segments that real brokers wrote, and dump-log on them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafka_lite.tools.main import main
from tests.support.samples import hex_sample

FIRST = "00000000000000000000"
ACTIVE = "00000000000000000020"


def put(directory: Path, name: str, *samples: str) -> None:
    """Write samples as the files of the segment ``name``."""
    for sample in samples:
        suffix = re.sub(r".*\.(log|index|timeindex)\.hex", r"\1", sample)
        (directory / f"{name}.{suffix}").write_bytes(hex_sample(sample))


def rolled_segments(tmp_path: Path) -> Path:
    """Two segments of a running 0.10.2 broker; the second is the active one, its indexes preallocated."""
    for name, number in ((FIRST, "00"), (ACTIVE, "20")):
        put(tmp_path, name, *(f"disk-roll-{number}.live.{kind}.hex" for kind in ("log", "index", "timeindex")))
    return tmp_path


def dump(capsys: pytest.CaptureFixture[str], *arguments: str, files: object) -> tuple[int, list[str], list[str]]:
    """Exit code, lines of stdout, lines of stderr."""
    names = ",".join(map(str, files)) if isinstance(files, list) else str(files)
    code = main(["dump-log", "--files", names, *arguments])
    captured = capsys.readouterr()
    return code, captured.out.splitlines(), captured.err.splitlines()
