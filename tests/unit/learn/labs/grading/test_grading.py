"""A grade is what an answer has earned itself: no trick of its process gives points."""

import pytest

from kafka_learn.labs.grader import CheckResult, TestOutcome
from kafka_learn.labs.grading import grading
from kafka_learn.labs.grading.grading import Grade, both, grade, limits_of
from kafka_learn.labs.grading.sandbox import has_namespaces
from kafka_learn.labs.grading.submissions import Answer, Record
from kafka_learn.labs.lab import find_lab
from kafka_learn.labs.starter import starter
from kafka_learn.source import module_path

LAB = find_lab("ch04-request-future")
(MODULE,) = LAB.modules
SHIPPED = module_path(MODULE)
STARTER = starter(LAB, MODULE)
ROW = TestOutcome("test_a", "A", 1, 60, broker=False, passed=True, skipped=False, running=False, message="")
RED = TestOutcome("test_a", "A", 1, 60, broker=False, passed=False, skipped=False, running=False, message="why")


def graded(source, record=None, **options):
    return grade(Answer(LAB, {MODULE: source}, record or Record()), broker=False, **options)


def test_an_answer_that_is_right_has_the_points_of_its_tests():
    found = graded(SHIPPED.read_text())
    assert (found.failure, found.mistake) == ("", "")
    assert found.total == 100
    assert found.points == sum(earned for earned, _ in found.tasks.values()) > 60


def test_an_answer_with_a_mistake_says_the_first_one():
    source = SHIPPED.read_text().replace("            self._value = value\n", "")
    found = graded(source)
    assert 0 < found.points < graded(SHIPPED.read_text()).points
    assert found.mistake


TAKE = (
    "import gc\nfrom kafka_learn.labs.proof import Reporter\n"
    "r, = [x for x in gc.get_objects() if type(x) is Reporter]\n"
)
CHEATS = {
    "the shipped file is executed": f"exec(open({str(SHIPPED)!r}).read(), globals())",
    "the shipped file is read by another program": (
        f"import subprocess\ntext = subprocess.check_output(['sh', '-c', 'cat {SHIPPED.parent}/request_futur*.py'])\n"
        "exec(text, globals())"
    ),
    "outcomes are changed on their way to the grader": (
        f"{TAKE}send = r._send\n"
        "def better(message):\n"
        "    if 'row' in message and not message['row']['running'] and not message['row']['skipped']:\n"
        "        message['row'].update(passed=True, message='')\n"
        "    send(message)\n"
        "r._send = better"
    ),
    "the plug-in is patched": (
        "from kafka_learn.labs import pytest_plugin as p\nof = p._outcome\n"
        "p._outcome = lambda item, *_, **__: of(item, '', passed=True)"
    ),
    "the process ends before its tests": "import os\nos._exit(0)",
}


@pytest.mark.soak
@pytest.mark.parametrize("cheat", CHEATS)
def test_a_cheat_has_no_points(cheat):
    found = graded(f"{STARTER}\n{CHEATS[cheat]}\n", Record(best=100, is_there=True))
    if cheat == "the shipped file is read by another program" and not has_namespaces():
        return  # what only a sandbox hides
    assert found.points == 0
    assert found.failure or found.mistake


def test_a_file_that_is_no_answer_is_not_checked():
    found = grade(Answer(LAB, {}, Record(), "request_future.py is a link"))
    assert (found.points, found.total, found.failure) == (0, 100, "request_future.py is a link")


def test_a_test_counts_if_it_passes_alone_and_beside_the_broker():
    whole = CheckResult((ROW,))
    assert both(CheckResult((ROW,)), whole) == whole
    assert both(CheckResult((RED,)), whole).outcomes[0].message == "why"
    assert both(CheckResult((RED,)), whole).score == 0
    assert both(CheckResult((ROW,), "late"), whole).failure == "late"


def test_the_whole_check_follows_that_of_the_own_tests(monkeypatch):
    calls = []

    def checked(lab, _files, *, broker=True, run=None):
        calls.append((broker, run is not None))
        return CheckResult((ROW,))

    monkeypatch.setattr(grading, "check", checked)
    monkeypatch.setattr(grading, "with_canary", lambda lab, _: (lab, "test_c"))
    monkeypatch.setattr(grading, "without_canary", lambda result, _: result)
    found = grade(Answer(LAB, {MODULE: STARTER}, Record()))
    assert calls == [(False, True), (True, True)]
    assert isinstance(found, Grade)
    assert (found.points, found.digest) == (60, grade(Answer(LAB, {MODULE: STARTER}, Record())).digest)


def test_java_may_take_more_memory():
    assert limits_of(find_lab("spark-lag")).memory > limits_of(LAB).memory
    assert limits_of(LAB).cpu_s == 2 * LAB.time_limit_s
