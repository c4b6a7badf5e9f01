"""Outcomes that the code under test makes up are refused, with the reason."""

import json
import os
import threading
from types import SimpleNamespace

import pytest

from kafka_learn.labs import pytest_plugin
from kafka_learn.labs.proof import KEY, REPORT, Listener, Reporter, Seal, functions_of, missing_tests

PASSED = {"passed": True, "running": False, "skipped": False}
FAILED = PASSED | {"passed": False}
RUNNING = FAILED | {"running": True}


def reported(folder, tell):
    """What the listener has after ``tell(reporter)``, which runs in another thread, as in another process."""
    listener = Listener(folder)
    with listener.listening():
        teller = threading.Thread(target=lambda: tell(Reporter(folder)))
        teller.start()
        teller.join()
    return listener


def test_each_test_has_its_last_state(tmp_path):
    def tell(reporter):
        for name, row in (("a", RUNNING), ("b", FAILED | {"skipped": True}), ("a", PASSED)):
            reporter.report(name, row)

    listener = reported(tmp_path, tell)
    assert listener.refusal == ""
    assert listener.rows == {"a": PASSED, "b": FAILED | {"skipped": True}}
    assert not (tmp_path / KEY).exists(), "the key can be read once"


def test_the_first_outcome_of_a_test_counts(tmp_path):
    def tell(reporter):
        reporter.report("a", FAILED)
        reporter.report("a", PASSED)

    listener = reported(tmp_path, tell)
    assert listener.rows == {"a": FAILED}
    assert "has reported twice" in listener.refusal


@pytest.mark.parametrize("signature", [b"", b"0" * 64])
def test_a_line_without_the_signature_is_refused(tmp_path, signature):
    def tell(reporter):
        reporter.report("a", FAILED)
        pipe = os.open(tmp_path / REPORT, os.O_WRONLY)
        os.write(pipe, signature + b" " + json.dumps({"test": "b", "row": PASSED}).encode() + b"\n")
        os.close(pipe)
        reporter.report("c", PASSED)

    listener = reported(tmp_path, tell)
    assert listener.rows == {"a": FAILED}
    assert "was not written by the grader" in listener.refusal


def test_a_line_that_is_sent_again_is_refused(tmp_path):
    sent = []

    class Copying(Listener):
        def _take(self, line):
            sent.append(line + b"\n")
            return super()._take(line)

    listener = Copying(tmp_path)
    with listener.listening():
        reporter = Reporter(tmp_path)
        reporter.report("a", RUNNING)
        while not sent:
            pass
        pipe = os.open(tmp_path / REPORT, os.O_WRONLY)
        os.write(pipe, sent[0])
        os.close(pipe)
    assert "was not written by the grader" in listener.refusal


def test_a_replaced_function_breaks_the_seal(monkeypatch):
    seal = Seal()
    assert seal.broken() == ""
    monkeypatch.setattr(pytest_plugin, "_outcome", lambda *_, **__: PASSED)
    assert seal.broken() == "kafka_learn.labs.pytest_plugin._outcome"


def test_a_method_and_the_code_of_a_function_are_sealed_too(monkeypatch):
    seal = Seal()
    with monkeypatch.context() as patch:
        patch.setattr(pytest_plugin.LabPlugin, "pytest_runtest_makereport", lambda *_: None)
        assert seal.broken() == "kafka_learn.labs.pytest_plugin.LabPlugin.pytest_runtest_makereport"
    assert seal.broken() == ""
    monkeypatch.setattr(pytest_plugin._message, "__code__", (lambda *_: "").__code__)
    assert seal.broken() == "kafka_learn.labs.pytest_plugin._message"


def defined(file, source):
    """The function of a file. (Those of this file are not as written: pytest rewrites their assertions.)"""
    names = {}
    exec(compile(source, str(file), "exec"), names)
    return next(value for name, value in names.items() if name.startswith("test_"))


def test_functions_must_have_the_code_of_their_file_which_is_not_the_learners(tmp_path):
    file = tmp_path / "own.py"
    file.write_text("def test_a():\n    return 1\n")
    own, other = defined(file, file.read_text()), defined(file, "def test_a():\n    return 2\n")
    assert Seal().broken([missing_tests, own]) == ""
    assert Seal().broken([own, other]) == "test_a"
    assert Seal([file]).broken([own]) == "test_a"
    assert Seal().broken([SimpleNamespace(__qualname__="an object", __call__=own)]) == "an object"


def test_functions_of_a_module_are_those_of_its_file():
    found = functions_of(pytest_plugin)
    assert pytest_plugin._outcome in found
    assert pytest_plugin.functions_of not in found


def test_a_broken_seal_is_reported_in_place_of_the_outcome(tmp_path):
    def tell(reporter):
        reporter.seal.broken = lambda _functions: "a.b"
        reporter.report("a", PASSED)

    listener = reported(tmp_path, tell)
    assert listener.rows == {}
    assert listener.refusal.startswith("a.b was replaced while your code ran")


def test_tests_without_an_outcome_are_missing(tmp_path):
    (tmp_path / "test_1_a.py").write_text("def test_one(): pass\n\n\ndef test_two(): pass\n\n\ndef helper(): pass\n")
    assert missing_tests(tmp_path, ["test_1_a.py::test_one[case]"]) == ["test_two"]
    assert missing_tests(tmp_path, ["test_1_a.py::test_one", "test_1_a.py::test_two"]) == []
