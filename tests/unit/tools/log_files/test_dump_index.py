"""Index files as dump-log prints them, and entries that disagree with the log."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from tests.support.dumped_logs import ACTIVE, FIRST, dump, rolled_segments


@pytest.fixture
def rolled(tmp_path: Path) -> Path:
    return rolled_segments(tmp_path)


def test_indexes_of_a_closed_and_of_the_active_segment(rolled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [rolled / f"{FIRST}.index", rolled / f"{FIRST}.timeindex", rolled / f"{ACTIVE}.index"]
    code, out, err = dump(capsys, files=files)
    assert (code, err) == (0, [])
    index = out[1 : out.index(f"Dumping {files[1]}")]
    assert index[:2] == ["offset: 3 position: 300", "offset: 6 position: 600"]
    assert index[-1] == "offset: 19 position: 1918"
    assert "timestamp: 1600000003000 offset: 3" in out
    active = out[out.index(f"Dumping {files[2]}") + 1 :]
    assert active
    assert "offset: 20 position: 0" not in active  # the preallocated rest


def test_dumping_an_index_does_not_change_the_file(rolled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {file: (file.read_bytes(), file.stat().st_mtime_ns) for file in rolled.iterdir()}
    for file in rolled.iterdir():
        file.chmod(0o444)
    dump(capsys, files=list(before))
    assert {file: (file.read_bytes(), file.stat().st_mtime_ns) for file in rolled.iterdir()} == before


def test_verify_index_only_prints_no_entries(rolled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [rolled / f"{FIRST}.index", rolled / f"{FIRST}.timeindex"]
    assert dump(capsys, "--verify-index-only", files=files) == (0, [f"Dumping {file}" for file in files], [])


def test_index_sanity_check(rolled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = rolled / f"{FIRST}.index", rolled / f"{ACTIVE}.index"
    code, out, err = dump(capsys, "--index-sanity-check", files=[good, bad])
    assert f"{good} passed sanity check." in out
    assert code == 1  # as a broker finds the file after a crash: preallocated and not trimmed
    assert len(err) == 1
    assert "is not greater than its base offset" in err[0]


def test_an_empty_index(rolled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (rolled / f"{FIRST}.index").write_bytes(b"")
    assert dump(capsys, files=rolled / f"{FIRST}.index")[1][1:] == [f"{rolled / FIRST}.index is empty."]


def patch(file: Path, layout: str, position: int, *values: int) -> None:
    content = bytearray(file.read_bytes())
    struct.pack_into(layout, content, position, *values)
    file.write_bytes(content)


def test_mismatching_entries_are_reported_last_first(rolled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = rolled / f"{FIRST}.index"
    patch(file, ">i", 8, 7)
    patch(file, ">i", 24, 12)
    code, out, err = dump(capsys, files=file)
    assert code == 0
    assert len(out) == 9
    assert err == [
        f"Mismatches in :{file}",
        "  Index offset: 12, log offset: 11",
        "  Index offset: 7, log offset: 6",
    ]


def test_an_entry_beyond_the_end_of_the_log_is_reported(rolled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = rolled / f"{FIRST}.index"
    patch(file, ">i", 12, 1_000_000)
    assert dump(capsys, files=file)[2][1:] == ["  Index offset: 6, log offset: -1"]


def test_mismatching_timestamps_are_reported(rolled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, active = rolled / f"{FIRST}.timeindex", rolled / f"{ACTIVE}.timeindex"
    patch(first, ">q", 24, 5)
    patch(active, ">i", 8, 900)
    _, _, err = dump(capsys, files=[first, active])
    assert err == [
        f"Found timestamp mismatch in :{first}",
        "  Index timestamp: 5, log timestamp: 1600000009000",
        f"Found out of order timestamp in :{first}",
        "  Index timestamp: 5, Previously indexed timestamp: 1600000006000",
        "The following indexed offsets are not found in the log.",
        "Indexed offset: 920, found log offset: -1",
    ]
