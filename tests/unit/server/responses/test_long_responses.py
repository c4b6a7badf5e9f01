"""Long responses: the bytes are those of short ones, in several buffers; their memory; clients that leave."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from kafka_lite.common.process.short_turns import TURN_S
from kafka_lite.common.sendable import Part
from kafka_lite.network.memory_pool import MemoryPool
from kafka_lite.network.request_channel import SMALL_RESPONSE_BYTES, ResponseAction
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_19_create_topics import (
    CreatableTopic,
    CreatableTopicResult,
    CreateTopicsRequest,
)
from kafka_lite.server.responses import long_responses
from tests.support.recorded_apis import Apis

TOPICS = 10_000


@pytest.fixture
def apis() -> Apis:
    return Apis()


@pytest.fixture
def between_slices(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], object]]:
    """What is called instead of each sleep between two slices."""
    calls: list[Callable[[], object]] = []

    def sleep(_seconds: float) -> None:
        for call in calls:
            call()

    monkeypatch.setattr(long_responses.time, "sleep", sleep)
    return calls


def respond(apis: Apis, results: list[CreatableTopicResult]) -> Any:
    request = apis.handle(
        ApiKey.CREATE_TOPICS, 4, CreateTopicsRequest(topics=[CreatableTopic(name="t")], timeout_ms=77)
    )
    apis.admin.callback(results)
    return request


def results(count: int = TOPICS) -> list[CreatableTopicResult]:
    return [CreatableTopicResult(name=f"topic-{number}") for number in range(count)]


def test_a_long_response_is_sent_in_several_buffers_and_others_run_between(
    apis: Apis, between_slices: list[Callable[[], object]]
) -> None:
    turns: list[float] = []
    between_slices.append(lambda: turns.append(sys.getswitchinterval()))
    respond(apis, results())
    answer = apis.answer()
    assert apis.decode(answer).topics == results()
    assert len(answer.send._parts) == 1 + len(turns) + 1 > 3, "the size, and the slices"
    assert all(turn <= TURN_S * 1.01 for turn in turns)


def test_a_short_response_has_no_slices(apis: Apis, between_slices: list[Callable[[], object]]) -> None:
    between_slices.append(pytest.fail)
    respond(apis, results(127))
    answer = apis.answer()
    assert apis.decode(answer).topics == results(127)
    assert len(answer.send._parts) == 1
    assert not hasattr(answer.send, "lease")


def test_the_memory_of_a_long_response_counts_while_it_is_sent(
    apis: Apis, between_slices: list[Callable[[], object]]
) -> None:
    seen: list[int] = []
    between_slices.append(lambda: seen.append(apis.channel.memory_pool.leased_bytes))
    respond(apis, results())
    answer = apis.answer()
    assert 0 < seen[0] < seen[-1] < apis.channel.memory_pool.leased_bytes == answer.send.size_in_bytes - 4
    del answer
    assert apis.channel.memory_pool.leased_bytes == 0


@pytest.mark.parametrize("is_logged", [False, True])
@pytest.mark.parametrize("count", [TOPICS, 100])
def test_the_body_of_a_request_does_not_wait_for_the_reader_of_its_long_response(
    apis: Apis, caplog: pytest.LogCaptureFixture, is_logged: bool, count: int
) -> None:
    caplog.set_level("DEBUG" if is_logged else "INFO", "kafka.request.logger")
    request = respond(apis, results(count))
    assert bool(request.body.topics) is (is_logged or count == 100), "unless the request log tells it"
    assert request.body.timeout_ms == 77, "metrics look at numbers: a follower's Fetch counts apart"


def test_a_short_response_of_many_bytes_counts_too(apis: Apis) -> None:
    message = "x" * (SMALL_RESPONSE_BYTES // 3)
    respond(apis, [CreatableTopicResult(name="t", error_message=message) for _ in range(4)])
    answer = apis.answer()
    assert apis.channel.memory_pool.leased_bytes == answer.send.size_in_bytes - 4
    del answer
    assert apis.channel.memory_pool.leased_bytes == 0


class Slice:
    """Stands for a part of a log file."""

    size_in_bytes = 1_000_000


def test_slices_of_files_take_no_memory() -> None:
    parts: list[Part] = [b"abc", memoryview(b"de"), Slice()]  # type: ignore[list-item]
    assert long_responses._bytes_in_memory(parts) == 5


def test_a_client_that_leaves_gets_no_further_slices(apis: Apis, between_slices: list[Callable[[], object]]) -> None:
    request = apis.handle(ApiKey.CREATE_TOPICS, 4, CreateTopicsRequest(topics=[CreatableTopic(name="t")]))
    slices: list[int] = []
    between_slices += [lambda: slices.append(1), request.note_client_left]
    apis.admin.callback(results())
    answer = apis.answer()
    assert (answer.action, answer.send, len(slices)) == (ResponseAction.NO_OP, None, 1)
    assert apis.channel.memory_pool.leased_bytes == 0


@pytest.fixture
def unread(apis: Apis) -> Any:
    """A response that no client has read yet, in a pool that has no room for a second one."""
    apis.channel.memory_pool = MemoryPool(300_000)
    respond(apis, results())
    answer = apis.answer()
    assert 150_000 < answer.send.size_in_bytes < 300_000
    return answer


def refused(apis: Apis, caplog: pytest.LogCaptureFixture) -> bool:
    answer = apis.answer()
    closed = (answer.action, answer.send) == (ResponseAction.CLOSE_CONNECTION, None)
    return closed and "have not read yet" in caplog.text and "Traceback" not in caplog.text


def test_responses_together_have_no_more_than_the_pool(
    apis: Apis, unread: Any, caplog: pytest.LogCaptureFixture
) -> None:
    leased = apis.channel.memory_pool.leased_bytes
    respond(apis, results())
    assert refused(apis, caplog)
    assert apis.channel.memory_pool.leased_bytes == leased, "what it had is given back"
    respond(apis, [CreatableTopicResult(name="t", error_message="x" * 30_000) for _ in range(6)])
    assert refused(apis, caplog)
    unread.send = None
    respond(apis, results())
    assert apis.decode(apis.answer()).topics == results()


def test_requests_wait_for_the_memory_of_responses_and_not_the_other_way_round(apis: Apis, unread: Any) -> None:
    pool, told = apis.channel.memory_pool, threading.Event()
    of_request = pool.try_lease(290_000, told.set)
    assert of_request is not None
    assert pool.try_lease(1, told.set) is None
    respond(apis, results(4_000))
    assert apis.answer().send.size_in_bytes > 50_000
    of_request.release()
    assert told.is_set()
