"""A process that may not read, write or reach what it should not; without namespaces, only what the limits hold."""

import socket
import sys

import psutil
import pytest

from kafka_learn.labs.grading import sandbox
from kafka_learn.labs.grading.sandbox import (
    Limits,
    command_in,
    has_namespaces,
    isolation,
    kept_environment,
    private_places,
    sandboxed,
    shipped_files,
)
from kafka_learn.project import PROJECT_ROOT
from kafka_learn.source import module_path
from tests.support.eventually import eventually

MODULE = "kafka_lite.log.offset_index"


@pytest.fixture
def run(tmp_path):
    """``run("print(1)")`` runs a program in a sandbox whose scratch folder is ``tmp_path``."""

    def run_source(source, hidden=(), limits=None, limit_s=60):
        command = [sys.executable, "-c", source, "--lab-channel", str(tmp_path)]
        return sandboxed(limits or Limits(), hidden)(command, limit_s)

    return run_source


def tried(statement):
    """A program that prints the error of a statement, or ``done``."""
    return f"try:\n    {statement}\n    print('done')\nexcept OSError as error:\n    print(type(error).__name__)"


def test_the_report_says_how_answers_are_isolated(monkeypatch):
    sandbox.has_namespaces.cache_clear()
    monkeypatch.setattr(sandbox.shutil, "which", lambda _: None)
    assert isolation() == sandbox.LIMITS_ONLY
    sandbox.has_namespaces.cache_clear()
    monkeypatch.undo()
    assert isolation() == (sandbox.ISOLATED if has_namespaces() else sandbox.LIMITS_ONLY)


def test_output_and_exit_code_are_those_of_the_program(run):
    assert run("import sys; print(sys.argv[1:][:1]); sys.exit(3)") == (3, "['--lab-channel']\n")


def test_nothing_is_written_but_in_the_scratch_folder(run, tmp_path):
    code, words = run(tried(f"open({str(tmp_path / 'mine')!r}, 'w').close()"))
    assert (code, words) == (0, "done\n")
    place = PROJECT_ROOT / ".written-by-an-answer"
    words = run(tried(f"open({str(place)!r}, 'w').close()"))[1]
    assert words == ("OSError\n" if has_namespaces() else "done\n")
    assert place.exists() is not has_namespaces()
    place.unlink(missing_ok=True)


def test_only_the_processes_of_the_check_can_be_reached(run):
    """Not a server of this machine; but the check has a loopback interface for its broker."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()
        words = run(tried(f"__import__('socket').create_connection({address}, 5).close()"))[1]
    assert words == ("ConnectionRefusedError\n" if has_namespaces() else "done\n")
    own = "s = __import__('socket'); s.create_connection(s.create_server(('127.0.0.1', 0)).getsockname(), 5).close()"
    assert (
        run(tried(own.replace("s.create_server(('127.0.0.1', 0))", "(t := s.create_server(('127.0.0.1', 0)))")))[1]
        == "done\n"
    )


def test_hidden_files_and_folders_are_empty(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("private")
    (folder / "key").write_text("secret")
    file = tmp_path_factory.mktemp("other") / "answer.py"
    file.write_text("secret")
    look = f"import os; print(os.listdir({str(folder)!r}), open({str(file)!r}).read())"
    words = run(look, hidden=[folder, file, folder / "not there"])[1]
    assert words == ("[] \n" if has_namespaces() else "['key'] secret\n")
    uncover = f"import os, subprocess; subprocess.run(['umount', {str(file)!r}], capture_output=True); {look}"
    assert run(uncover, hidden=[folder, file])[1] == words, "covers cannot be taken away"


def test_memory_is_limited(run):
    code, words = run("bytearray(1 << 30)", limits=Limits(memory=256 << 20))
    assert code == 1
    assert "MemoryError" in words


def test_processes_with_a_session_of_their_own_end_with_the_check(run, tmp_path):
    marker = f"sleeper-{tmp_path.name}"
    program = f"import time; time.sleep(60); {marker!r}"
    source = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {program!r}], start_new_session=True)"
    assert run(source)[0] == 0

    def left():
        commands = [(each, each.info["cmdline"] or []) for each in psutil.process_iter(["cmdline"])]
        return [each for each, words in commands if any(word.endswith(f"{marker!r}") for word in words)]

    if has_namespaces():
        eventually(lambda: not left())
    for process in left():
        process.kill()


def test_a_check_is_ended_at_its_time_limit(run):
    assert run("import time; time.sleep(60)", limit_s=2)[0] is None


def test_secrets_of_the_environment_stay_outside(monkeypatch, tmp_path):
    monkeypatch.setenv("MY_TOKEN", "secret")
    kept = kept_environment(tmp_path)
    assert "MY_TOKEN" not in kept
    assert kept["HOME"] == kept["TMPDIR"] == str(tmp_path)
    assert str(PROJECT_ROOT) in kept["PYTHONPATH"]


def test_without_namespaces_the_limits_are_left(monkeypatch, tmp_path):
    monkeypatch.setattr(sandbox, "has_namespaces", lambda: False)
    command = command_in(["x"], tmp_path, Limits())
    assert command[:3] == [sys.executable, "-m", "kafka_learn.labs.grading.inside"]
    assert '"namespaces": false' in command[3]


def test_what_is_hidden():
    assert module_path(MODULE) in shipped_files([MODULE])
    assert PROJECT_ROOT / ".git" in private_places()
