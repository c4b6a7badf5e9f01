"""Titles and messages of labs' tests in Chinese."""

from dataclasses import replace
from pathlib import Path

import pytest

from kafka_learn.labs.grader import CheckResult, TestOutcome
from kafka_learn.labs.lab import find_lab
from kafka_learn.labs.way.in_chinese import Chinese, chinese_of, in_language

WORDS = Chinese(
    [
        {
            "titles": {"Six batches": "六个批次", "After 9: a gap": "9 之后：空缺"},
            "cases": {"a step back": "往回退"},
            "messages": {
                "{number} of {count} arrived": "{count} 条只到了 {number} 条",
                "{number} of {count} arrived, or out of order": "{count} 条只到了 {number} 条，或者次序乱了",
                "not {got}: {why}": "不是 {got}：{why}",
                "the batch is old": "批次太老",
                "old: it is late": "老：迟了",
                "event {number} is late": "事件 {number} 迟了",
                "{got} is in {{braces}}": "{got} 在 {{braces}} 里",
                "peer of a": "",
            },
        },
        {"messages": {"the batch is old": "另一句", "{line} failed": "{line} 失败"}},
    ]
)


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("Six batches", "六个批次"),
        ("Six batches: a step back", "六个批次：往回退"),
        ("Six batches: gzip", "六个批次：gzip"),
        ("After 9: a gap", "9 之后：空缺"),
        ("Seven batches: gzip", "Seven batches: gzip"),
    ],
)
def test_a_title_and_its_case(english: str, chinese: str) -> None:
    assert WORDS.title(english) == chinese


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("3 of 5 arrived", "5 条只到了 3 条"),
        ("3 of 5 arrived, or out of order", "5 条只到了 3 条，或者次序乱了"),
        ("not [1]\n[2]: the batch is old", "不是 [1]\n[2]：批次太老"),
        ("7 is in {braces}", "7 在 {braces} 里"),
        ("line 3 failed", "line 3 失败"),
        ("nobody said this", "nobody said this"),
        ("peer of a", "peer of a"),
    ],
)
def test_a_message_has_its_values_and_the_longest_that_matches_is_meant(english: str, chinese: str) -> None:
    assert WORDS.message(english) == chinese


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("the batch is old: event 3 is late", "批次太老：事件 3 迟了"),
        ("old: it is late: event 3 is late", "老：迟了：事件 3 迟了"),
        ("the batch is old: 10:30", "批次太老：10:30"),
        ("nobody knows: the batch is old", "nobody knows: the batch is old"),
    ],
)
def test_a_mistake_is_followed_by_an_example(english: str, chinese: str) -> None:
    assert WORDS.message(english) == chinese


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("Six batches: the batch is old", "六个批次：批次太老"),
        ("Six batches: a step back: the batch is old", "六个批次：往回退：批次太老"),
        ("After 9: a gap: not 3: the batch is old", "9 之后：空缺：不是 3：批次太老"),
        ("Seven batches: the batch is old", "Seven batches: the batch is old"),
        ("Six batches: nobody said this", "Six batches: nobody said this"),
    ],
)
def test_the_mistake_of_a_report_is_a_title_and_a_message(english: str, chinese: str) -> None:
    assert WORDS.mistake(english) == chinese


OUTCOME = TestOutcome(
    "test_a", "Six batches", 1, 5, broker=False, passed=False, skipped=False, running=False, message=""
)
LAB = find_lab("ch02-sequence-check")


def test_a_result_is_said_in_the_language_of_the_learner() -> None:
    rows = [
        replace(OUTCOME, message="10 to 14 are new numbers: not a duplicate"),
        replace(OUTCOME, message="TypeError: no (a.py, line 3): does your function return what its docstring says?"),
        replace(OUTCOME, message="your task 2: ProducerStateEntry.update"),
        replace(OUTCOME, message="runs once all the tests above pass", skipped=True),
    ]
    result = CheckResult(tuple(rows), "the check was stopped at its time limit of 9 s, during this test: Six batches")
    told = in_language(LAB, result, "zh")
    assert [row.message for row in told.outcomes] == [
        "10 到 14 是新的编号：不是重复",
        "TypeError: no（a.py，第 3 行）：你的函数返回的是文档字符串所说的值吗？",
        "your task 2: ProducerStateEntry.update",
        "上面的测试全部通过以后才运行",
    ]
    assert {row.title for row in told.outcomes} == {"六个批次"}
    assert told.failure == "检查到了 9 秒的时限，被停止了，当时正在运行这个测试：六个批次"
    assert in_language(LAB, result, "en") is result


def test_a_lab_without_words_stays_english(tmp_path: Path) -> None:
    (tmp_path / "lab").mkdir()
    assert chinese_of(tmp_path / "lab").message("no response") == "no response"
