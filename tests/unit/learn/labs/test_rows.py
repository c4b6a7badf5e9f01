import pytest

from kafka_learn.labs.lab import Task
from kafka_learn.labs.pytest_plugin import exception_words
from kafka_learn.labs.rows import must_be_column, must_be_frame, must_be_rows
from kafka_learn.labs.streams import once

WANT = [{"key": "a", "count": 1, "mean": 0.5}, {"key": "b", "count": 2, "mean": None}]
DOUBLED = [{**row, "count": 2 * row["count"]} for row in WANT]
MISTAKES = {"doubles were counted": DOUBLED, "b is lost": WANT[:1]}


def message(got, **options):
    with pytest.raises(AssertionError) as failure:
        must_be_rows(got, WANT, ["key"], **options)
    return str(failure.value)


def test_equal_rows_pass_in_any_order_and_within_a_billionth():
    must_be_rows([WANT[1], {**WANT[0], "mean": 0.5 + 1e-12}], WANT, ["key"], mistakes=MISTAKES)


@pytest.mark.parametrize(
    ("got", "words"),
    [
        (WANT[:1], "there is no row for key b; plain Python has key b, count 2, mean None"),
        ([*WANT, WANT[0]], "there are two rows for key a: one was asked for"),
        ([*WANT, {"key": "c"}], "the row for key c should not be there"),
        ([WANT[0], {**WANT[1], "mean": 0.0}], "key b: mean is 0.0, but plain Python has None"),
    ],
)
def test_the_first_difference_is_shown(got, words):
    assert message(got) == words


def test_a_mistake_is_named_if_the_rows_are_those_that_it_leads_to():
    assert message(DOUBLED, mistakes=MISTAKES).startswith("doubles were counted. For example: key a: count is 2")
    assert message(WANT[:1], mistakes=MISTAKES).startswith("b is lost. For example: there is no row for key b")


def test_a_mistake_is_not_named_if_it_explains_less_than_half_of_the_differences():
    assert message([{**row, "count": 7} for row in WANT], mistakes=MISTAKES).startswith("key a: count is 7")


def test_what_is_no_data_frame_or_column_is_named():
    with pytest.raises(AssertionError, match="returned None: is a return missing"):
        must_be_frame(None)
    with pytest.raises(AssertionError, match="yours returned list"):
        must_be_frame([])
    with pytest.raises(AssertionError, match="salt returns a Column, yours returned str"):
        must_be_column("salt", "salt")


def test_a_run_is_made_once_and_its_failure_is_raised_again():
    calls = []

    def fail():
        calls.append("called")
        raise ValueError("no")

    result = once(fail)
    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            result()
    assert calls == ["called"]
    assert once(list)() == []


def test_of_an_exception_in_a_worker_the_workers_words_are_shown():
    text = (
        "[UDF] failed: \n  An exception was thrown from the Python worker.\nTraceback (most recent call last):\n"
        '  File "worker.py", line 3, in f\n    x = 1 / 0\nZeroDivisionError: division by zero\n\n\tat org.apache'
    )
    assert exception_words(RuntimeError(text)) == "ZeroDivisionError: division by zero"
    assert exception_words(RuntimeError("short")) == "short"


def test_hints_are_english_where_there_are_no_chinese_ones():
    assert Task(1, "read", (), ("look",), ("看",)).hints_in("zh") == ("看",)
    assert Task(1, "read", (), ("look",)).hints_in("zh") == ("look",)
