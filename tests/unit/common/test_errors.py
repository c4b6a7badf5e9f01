"""The table of errors: every code once, its row found by its code, and exceptions that carry it."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import MAX_MESSAGE_CHARS, ApiError, Errors, KafkaError, shorten_message


def test_every_code_up_to_the_last_is_in_the_table_once() -> None:
    codes = [error.code for error in Errors]
    assert sorted(codes) == list(range(-1, max(codes) + 1))


def test_the_rows_are_in_the_order_of_their_codes() -> None:
    codes = [error.code for error in Errors]
    assert codes == sorted(codes)


@pytest.mark.parametrize("error", list(Errors))
def test_an_error_is_found_by_its_code(error: Errors) -> None:
    assert Errors.for_code(error.code) is error


@pytest.mark.parametrize("code", [-2, 32_767])
def test_an_unknown_code_is_an_unknown_server_error(code: int) -> None:
    assert Errors.for_code(code) is Errors.UNKNOWN_SERVER_ERROR


@pytest.mark.parametrize("error", list(Errors))
def test_a_message_is_a_sentence(error: Errors) -> None:
    assert error.message.endswith(".")


@pytest.mark.parametrize(
    ("name", "code", "retriable"),
    [
        ("OFFSET_OUT_OF_RANGE", 1, False),
        ("UNKNOWN_TOPIC_OR_PARTITION", 3, True),
        ("NOT_LEADER_OR_FOLLOWER", 6, True),
        ("REQUEST_TIMED_OUT", 7, True),
        ("REBALANCE_IN_PROGRESS", 27, False),
        ("UNSUPPORTED_VERSION", 35, False),
        ("OUT_OF_ORDER_SEQUENCE_NUMBER", 45, False),
        ("CONCURRENT_TRANSACTIONS", 51, True),
        ("FENCED_LEADER_EPOCH", 74, True),
        ("MEMBER_ID_REQUIRED", 79, False),
        ("PRODUCER_FENCED", 90, False),
    ],
)
def test_codes_and_retries_are_kafkas(name: str, code: int, retriable: bool) -> None:
    assert (Errors[name].code, Errors[name].retriable) == (code, retriable)


def test_an_exception_says_what_its_error_means_or_what_it_is_told() -> None:
    assert str(Errors.NOT_COORDINATOR.exception()) == Errors.NOT_COORDINATOR.message
    told = Errors.NOT_COORDINATOR.exception("it has moved")
    assert str(told) == "it has moved"
    assert isinstance(told, KafkaError)
    assert (told.error, told.retriable) == (Errors.NOT_COORDINATOR, True)


def test_a_long_message_keeps_its_beginning_and_its_end() -> None:
    text = "begin" + "x" * 10_000 + "end"
    shown = str(ApiError(Errors.INVALID_REQUEST, text))
    assert len(shown) == MAX_MESSAGE_CHARS
    assert shown.startswith("beginx")
    assert shown.endswith("xend")
    assert "…" in shown
    assert shorten_message("x" * MAX_MESSAGE_CHARS) == "x" * MAX_MESSAGE_CHARS
