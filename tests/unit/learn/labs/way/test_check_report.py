"""The table and the verdict of a check, in the learner's language; what a learner does next."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from kafka_learn.labs.grader import CheckResult, TestOutcome
from kafka_learn.labs.lab import find_lab
from kafka_learn.labs.starter import UNWRITTEN
from kafka_learn.labs.way.check_report import next_task, printed_by_first_failed, score_table, verdict
from kafka_learn.labs.workspace import LabWorkspace

LAB = find_lab("ch06-offset-index")
PASSED = TestOutcome("test_a", "A", 1, 5, broker=False, passed=True, skipped=False, running=False, message="")
WRONG = replace(PASSED, test="test_b", title="B", task=2, passed=False, message="3 is not 4", printed="mine")
UNWRITTEN_ONE = replace(PASSED, test="test_c", title="C", task=3, passed=False, message=f"{UNWRITTEN}3: lookup")
BROKER = replace(PASSED, test="test_d", title="D", task=7, broker=True)


def shown(part):
    console = Console(file=io.StringIO(), width=160)
    console.print(part)
    return console.file.getvalue()


@pytest.fixture
def workspace(tmp_path):
    made = LabWorkspace(LAB, tmp_path / "work")
    made.start()
    return made


def with_a_helper(workspace):
    """The learner has begun."""
    path = next(iter(workspace.files().values()))
    path.write_text(path.read_text() + "\n# mine\n")


def test_the_table_has_points_marks_and_mistakes():
    words = shown(score_table(LAB, CheckResult((PASSED, WRONG, UNWRITTEN_ONE))))
    assert "✓ A" in words
    assert "✗ B" in words
    assert "3 is not 4" in words
    assert "· C" in words
    assert "5/15" in words
    assert LAB.title in words


def test_the_table_in_chinese():
    words = shown(score_table(LAB, CheckResult((PASSED, WRONG)), "zh"))
    assert f"{LAB.title_zh} · 书 {LAB.section}" in words
    assert LAB.task(2).title_zh in words
    assert LAB.task(2).title not in words
    assert "✓ 通过   ✗ 未通过   · 等你写代码" in words


@pytest.mark.parametrize(("language", "place"), [("en", "beyond the book: Spark"), ("zh", "书外：Spark")])
def test_labs_beyond_the_book(language, place):
    lab = replace(LAB, section="Spark")
    assert f"{lab.title_in(language)} · {place}" in shown(score_table(lab, CheckResult((PASSED,)), language))


@pytest.mark.parametrize(("language", "head"), [("en", "in this test: B"), ("zh", "在这个测试里打印的内容：B")])
def test_the_output_of_the_first_failed_test(language, head):
    words = printed_by_first_failed(CheckResult((PASSED, WRONG)), language).plain.splitlines()
    assert words[0].endswith(head)
    assert words[1] == "mine"
    assert printed_by_first_failed(CheckResult((PASSED, UNWRITTEN_ONE)), language) is None


@pytest.mark.parametrize(
    ("language", "all_of_it", "tests", "expected", "write"),
    [
        ("en", "a real broker ran", "Now run the broker", "This failure is expected", "Stuck?"),
        ("zh", "真正的 broker 也用你的代码运行过了", "接下来让 broker", "现在不通过是正常的", "没有思路？"),
    ],
)
def test_the_verdict(workspace, language, all_of_it, tests, expected, write):
    assert all_of_it in verdict(workspace, CheckResult((PASSED, BROKER)), language).plain
    assert tests in verdict(workspace, CheckResult((PASSED,)), language).plain
    assert verdict(workspace, CheckResult((), "why"), language).plain == "why"
    begun = verdict(workspace, CheckResult((UNWRITTEN_ONE,)), language).plain
    assert begun.startswith(expected)
    with_a_helper(workspace)
    later = verdict(workspace, CheckResult((UNWRITTEN_ONE,)), language).plain
    assert expected not in later
    assert write in later
    assert f"1{'，' if language == 'zh' else ', '}{LAB.tasks[0].title_in(language)}" in later
    assert f"labs hint {LAB.name}" in later


def test_a_written_function_with_a_mistake_is_to_be_checked(workspace):
    path = workspace.files()["kafka_lite.log.offset_index"]
    body = f'raise NotImplementedError("{UNWRITTEN}1: OffsetIndex._parse_entry")'
    path.write_text(path.read_text().replace(body, "return None"))
    result = CheckResult((replace(WRONG, task=1),))
    assert next_task(workspace, result).number == 1
    assert "：请检查 OffsetIndex._parse_entry。" in verdict(workspace, result, "zh").plain
    assert ": check OffsetIndex._parse_entry." in verdict(workspace, result).plain
