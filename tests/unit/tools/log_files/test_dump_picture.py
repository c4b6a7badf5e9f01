"""Segments as pictures: in letters for files, in colours on a terminal."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafka_lite.tools.common import terminal
from tests.support.dumped_logs import ACTIVE, FIRST, dump, put, rolled_segments


@pytest.fixture
def rolled(tmp_path: Path) -> Path:
    return rolled_segments(tmp_path)


def test_a_segment_as_a_picture(
    rolled: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    code, out, err = dump(capsys, "--picture", files=rolled / f"{FIRST}.log")
    assert (code, err) == (0, [])
    assert out[2] == ("20 batches, 2020 bytes, 4 bytes per column; 8 entries of the offset index, 8 of the time index")
    strips = [line for line in out if re.match(r"\d", line)][1:]
    assert "".join(strip[14:] for strip in strips).count("|") == 20
    marks = "".join(line[14:] for line in out if line.startswith("offset index"))
    assert marks.count("v") == 8
    assert "v3" in marks
    assert out[-1] == "= none"


def test_a_picture_coloured_by_producer_without_indexes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, FIRST, "v39-modern-1.00.log.hex")
    (tmp_path / f"{FIRST}.index").unlink(missing_ok=True)
    code, out, _ = dump(capsys, "--picture", "producer", files=tmp_path / f"{FIRST}.log")
    assert code == 0
    assert out[-1].startswith("a producer 0")
    assert not any(line.startswith(("offset index", "time index")) for line in out)


def test_preallocated_index_space_is_not_drawn(rolled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for kind in ("index", "timeindex"):
        (rolled / f"{ACTIVE}.{kind}").write_bytes(bytes(240))
    code, out, _ = dump(capsys, "--picture", files=rolled / f"{ACTIVE}.log")
    assert code == 0
    assert out[2].endswith("; 0 entries of the offset index, 0 of the time index")
    assert not any(line.startswith(("offset index", "time index")) for line in out)


def test_a_picture_of_a_log_that_ends_in_garbage(rolled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = rolled / f"{FIRST}.log"
    file.write_bytes(file.read_bytes()[:1000] + b"x" * 300)
    code, out, err = dump(capsys, "--picture", files=file)
    assert code == 1
    assert "no batch at position" in err[0]
    assert any(line.endswith("???") for line in out)


def test_a_terminal_gets_colours(
    rolled: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "on_terminal", lambda stream=None: True)
    monkeypatch.setenv("COLUMNS", "80")
    _, out, _ = dump(capsys, "--picture", files=rolled / f"{FIRST}.log")
    text = "\n".join(out)
    assert text.count("▐") == 20
    assert text.count("▼") == 8
    assert out[-1].strip() == "█ none"


@pytest.mark.parametrize("columns", ["", "wide", "-5", "0"])
def test_a_width_that_is_no_number_is_left_to_the_default(
    rolled: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    code, out, err = dump(capsys, "--picture", files=rolled / f"{FIRST}.log")
    assert (code, err) == (0, [])
    assert max(map(len, out[3:])) == 100
