"""The canary fails like a test of its lab; an answer that makes it pass is caught."""

from dataclasses import replace

from kafka_learn.labs.grader import CheckResult, TestOutcome, check
from kafka_learn.labs.grading.canary import CAUGHT, SILENT, with_canary, without_canary
from kafka_learn.labs.lab import all_labs, find_lab
from kafka_learn.source import module_path

ROW = TestOutcome("test_a", "A", 1, 10, broker=False, passed=True, skipped=False, running=False, message="")
CANARY = replace(ROW, test="test_c", points=0)
RED = replace(CANARY, passed=False, message="not true")


def test_every_lab_can_have_one_under_another_name_each_time(tmp_path):
    names = set()
    for lab in all_labs():
        copy, name = with_canary(lab, tmp_path / lab.name)
        files = [file for file in copy.tests.glob("test_*.py") if f"def {name}(" in file.read_text()]
        assert len(files) == 1
        compile(files[0].read_text(), str(files[0]), "exec")
        assert f"def {name}(" not in (lab.tests / files[0].name).read_text()
        names.add(name)
    assert len(names) == len(all_labs())


def test_the_shipped_code_does_not_make_it_pass(tmp_path):
    lab, name = with_canary(find_lab("ch04-request-future"), tmp_path)
    result = check(lab, {module: module_path(module) for module in lab.modules}, broker=False)
    assert [outcome.test for outcome in result.outcomes if not outcome.passed] == [name]
    assert without_canary(result, name).passed


def test_one_that_passes_or_does_not_run_ends_the_grade():
    assert without_canary(CheckResult((ROW, RED)), "test_c") == CheckResult((ROW,))
    assert without_canary(CheckResult((ROW, CANARY)), "test_c") == CheckResult((), CAUGHT)
    assert without_canary(CheckResult((ROW,)), "test_c") == CheckResult((), SILENT)


def test_a_check_that_did_not_finish_keeps_its_reason():
    assert without_canary(CheckResult((), "not valid Python"), "test_c").failure == "not valid Python"
    stopped = CheckResult((replace(ROW, passed=False, running=True),), "stopped")
    assert without_canary(stopped, "test_c") == stopped
