"""``kafka-lite where`` prints every place of one class, a line for each of several, and why a class is missing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from kafka_lite.book.book_classes import load_book_classes
from kafka_lite.book.class_index import load_class_index
from kafka_lite.tools import where as tool
from kafka_lite.tools.main import main
from tests.support.book_references import sources_read_once

PROJECT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module", autouse=True)
def modules_are_read_once() -> Iterator[None]:
    """Reading all modules takes seconds, and no test changes them."""
    with sources_read_once() as patch:
        patch.setattr(tool, "load_class_index", cache(load_class_index))
        yield


def where(name: str, capsys: pytest.CaptureFixture[str], expected: int = 0) -> str:
    assert main(["where", name]) == expected
    printed = capsys.readouterr()
    return printed.err if expected else printed.out


def test_a_class_is_shown_with_everything_about_it(capsys: pytest.CaptureFixture[str]) -> None:
    shown = where("RecordAccumulator", capsys)
    place = re.search(r"here +(\S+):(\d+)", shown)
    assert place
    line = (PROJECT / place[1]).read_text().splitlines()[int(place[2]) - 1]
    assert line.startswith("class RecordAccumulator")
    assert re.search(r"tests +tests/unit/producer/test_record_accumulator\.py", shown)
    assert re.search(r"Kafka +0\.10\.2: clients/\.\.\./producer/internals/RecordAccumulator\.java", shown)
    assert re.search(r"book +2\.1\.1 Sending", shown)
    assert "同步和异步发送消息" in shown
    assert re.search(r"page +chapters/ch02_producer/sending\.md", shown)
    assert "ch02-record-accumulator" in shown


def test_snake_case_finds_the_same_class(capsys: pytest.CaptureFixture[str]) -> None:
    assert where("record_accumulator", capsys) == where("RecordAccumulator", capsys)


def test_several_classes_get_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    lines = where("coordinat", capsys).splitlines()
    assert any(re.match(r"ConsumerCoordinator +kafka_lite/consumer/\S+:\d+ +4\.1\.2", line) for line in lines)
    assert all(re.search("coordinat", line, re.IGNORECASE) for line in lines)
    assert len(lines) > 5


def test_longer_matching_names_are_mentioned(capsys: pytest.CaptureFixture[str]) -> None:
    shown = where("Coordinator", capsys)
    assert "ConsumerCoordinator" in shown.partition("Names that contain it:")[2]


def test_a_class_with_another_name_here_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert re.search(r"here +kafka_lite/log/\S+:\d+, as FileMessageSet", where("FileRecords", capsys))


def test_a_class_without_a_module_has_a_reason(capsys: pytest.CaptureFixture[str]) -> None:
    each = next(each for each in load_book_classes() if each.reason)
    assert f"({each.reason})" in where(each.name, capsys)


def test_an_unknown_name_gets_suggestions(capsys: pytest.CaptureFixture[str]) -> None:
    error = where("RecordAcumulator", capsys, expected=1)
    assert "'RecordAcumulator'" in error
    assert "RecordAccumulator" in error.partition("Similar:")[2]
