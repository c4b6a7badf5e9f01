"""The folder of a run: begun anew, resumed, and freed of what a killed run has left running."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from pipeline.processes import command_line
from pipeline.run.run_folder import RunFolder, RunFolderError
from pipeline.run.run_options import ReplayOptions
from tests.support.eventually import eventually

REPLAY = ReplayOptions(date(2013, 2, 8), days=3, late=0.05, duplicates=0.02, garbage=10, seed=7)
SLEEP = "import time; time.sleep(600)"
ENDS_ITS_FIRST_THREAD = """
import ctypes, threading, time
threading.Thread(target=time.sleep, args=[600]).start()
ctypes.CDLL(None).pthread_exit(None)
"""


def sleeping(*arguments: str) -> subprocess.Popen[bytes]:
    """A process in a session of its own, with these words in its command line."""
    process = subprocess.Popen([sys.executable, "-c", SLEEP, *arguments], start_new_session=True)
    eventually(lambda: all(word in command_line(process.pid) for word in arguments), "it runs")
    return process


def test_a_resumed_run_replays_what_the_first_start_began(tmp_path: Path) -> None:
    RunFolder(tmp_path / "run").begin(REPLAY, "kafka:9092")
    record = RunFolder(tmp_path / "run").resume(None)
    assert (record.replay, record.bootstrap_servers, record.starts) == (REPLAY, "kafka:9092", 2)
    assert RunFolder(tmp_path / "run").resume("other:9092").bootstrap_servers == "other:9092"


def test_a_new_run_removes_what_the_old_one_left(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    folder.begin(REPLAY, None)
    folder.append(folder.samples, [{"sent": 1}])
    folder.begin(ReplayOptions(), None)
    assert list(folder.rows(folder.samples)) == []
    assert folder.record().replay == ReplayOptions()


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "precious").touch()
    with pytest.raises(RunFolderError, match="choose another --folder"):
        RunFolder(tmp_path).begin(REPLAY, None)
    assert (tmp_path / "precious").exists()


def test_an_empty_folder_is_used(tmp_path: Path) -> None:
    assert RunFolder(tmp_path).begin(REPLAY, None).starts == 1


def test_nothing_can_be_resumed_where_no_run_was(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="there is no run"):
        RunFolder(tmp_path / "run").resume(None)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"replay": {}}', '{"replay": {"first_day": "soon"}}'])
def test_a_record_that_cannot_be_read_is_reported(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(RunFolderError, match="cannot be read"):
        RunFolder(tmp_path).resume(None)


def test_what_a_killed_run_left_running_is_ended_and_nothing_else(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    folder.begin(REPLAY, None)
    with sleeping(str(folder.path)) as broker, sleeping("another's") as stranger:
        folder.remember_children([broker.pid, stranger.pid])
        try:
            RunFolder(tmp_path / "run").resume(None)
            assert broker.poll() == -9
            assert stranger.poll() is None
        finally:
            for process in (broker, stranger):
                process.kill()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a process ends with its first thread")
def test_a_leftover_is_ended_though_its_first_thread_has_ended(tmp_path: Path) -> None:
    """A JVM that ends is such a process for a while: a zombie without a command line, which holds files and ports."""
    folder = RunFolder(tmp_path / "run")
    folder.begin(REPLAY, None)
    command = [sys.executable, "-c", ENDS_ITS_FIRST_THREAD, str(folder.path)]
    with subprocess.Popen(command, start_new_session=True) as ending:
        try:
            eventually(lambda: ") Z " in Path(f"/proc/{ending.pid}/stat").read_text(), "its first thread has ended")
            folder.remember_children([ending.pid])
            RunFolder(tmp_path / "run").resume(None)
            assert ending.poll() == -9
        finally:
            ending.kill()


def test_a_run_that_is_going_on_is_not_disturbed(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    record = folder.begin(REPLAY, None)
    with sleeping("-m pipeline") as other:
        try:
            folder._written(dataclasses.replace(record, pid=other.pid))
            with pytest.raises(RunFolderError, match="is still running"):
                folder.begin(REPLAY, None)
            with pytest.raises(RunFolderError, match="is still running"):
                folder.resume(None)
        finally:
            other.kill()


def test_a_row_that_a_kill_cut_off_is_left_out(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    folder.begin(REPLAY, None)
    folder.append(folder.progress, [{"batchId": 0}, {"batchId": 1}])
    with folder.progress.open("a") as file:
        file.write('\n{"batchId": ')
    folder.append(folder.progress, [{"batchId": 2}])
    assert [row["batchId"] for row in folder.rows(folder.progress)] == [0, 1, 2]
