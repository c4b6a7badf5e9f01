"""Channels that wait, and who lets them go on, and when."""

from __future__ import annotations

import threading

import pytest

from kafka_lite.common.time import SYSTEM_TIME, MockTime
from kafka_lite.server.quotas.throttled_channel import (
    DelayQueue,
    ThrottledChannel,
    ThrottledChannelReaper,
    ThrottledResponse,
)
from tests.support.patience import patient_s


class Channel:
    """Notes what happens to it."""

    def __init__(self, log: list[str], name: str = "c", *, is_broken: bool = False) -> None:
        self.log, self.name, self.is_broken = log, name, is_broken

    def start_throttling(self) -> None:
        self.log.append(f"mute {self.name}")

    def end_throttling(self) -> None:
        if self.is_broken:
            raise OSError("the connection is gone")
        self.log.append(f"unmute {self.name}")


@pytest.fixture
def time() -> MockTime:
    return MockTime()


def test_a_channel_is_muted_at_once_and_unmuted_at_the_end(time: MockTime) -> None:
    log: list[str] = []
    channel = ThrottledChannel(time, 500, Channel(log))
    assert (log, channel.end_ms, channel.throttle_time_ms) == (["mute c"], 500, 500)
    channel.notify_throttling_done()
    assert log == ["mute c", "unmute c"]


def test_a_held_back_response_goes_out_at_the_end_with_its_throttle_time(time: MockTime) -> None:
    sent: list[int] = []
    channel = ThrottledChannel(time, 500, ThrottledResponse(500, sent.append))
    assert sent == []
    channel.notify_throttling_done()
    assert sent == [500]


def test_the_queue_gives_channels_in_the_order_of_their_ends(time: MockTime) -> None:
    queue = DelayQueue(time)
    channels = {ms: ThrottledChannel(time, ms, Channel([])) for ms in (300, 100, 200)}
    for channel in channels.values():
        queue.add(channel)
    assert len(queue) == 3
    for ms in (100, 200, 300):
        assert queue.poll(1000) is channels[ms]
        assert time.hi_res_ms() == ms, "it waits no longer than necessary"
    assert queue.poll(1000) is None
    assert time.hi_res_ms() == 1300


def test_of_equal_ends_the_first_goes_first(time: MockTime) -> None:
    queue = DelayQueue(time)
    channels = [ThrottledChannel(time, 100, Channel([])) for _ in range(5)]
    for channel in channels:
        queue.add(channel)
    assert [queue.poll(1000) for _ in channels] == channels


def test_a_poll_does_not_wait_longer_than_it_was_told(time: MockTime) -> None:
    queue = DelayQueue(time)
    queue.add(ThrottledChannel(time, 5000, Channel([])))
    assert queue.poll(1000) is None
    assert (time.hi_res_ms(), len(queue)) == (1000, 1)


def test_the_reaper_lets_a_channel_go_on_once(time: MockTime) -> None:
    log: list[str] = []
    queue = DelayQueue(time)
    reaper = ThrottledChannelReaper("reaper", queue, lambda: log.append("taken"))
    queue.add(ThrottledChannel(time, 1500, Channel(log)))
    reaper.do_work()
    assert log == ["mute c"], "it comes back after a second, to see whether it is to stop"
    reaper.do_work()
    assert (log, time.hi_res_ms()) == (["mute c", "taken", "unmute c"], 1500)
    reaper.do_work()
    assert len(log) == 3


def test_a_broken_channel_does_not_keep_the_others(time: MockTime, caplog: pytest.LogCaptureFixture) -> None:
    log: list[str] = []
    queue = DelayQueue(time)
    reaper = ThrottledChannelReaper("reaper", queue, lambda: None)
    queue.add(ThrottledChannel(time, 1, Channel(log, "a", is_broken=True)))
    queue.add(ThrottledChannel(time, 2, Channel(log, "b")))
    reaper.do_work()
    reaper.do_work()
    assert log == ["mute a", "mute b", "unmute b"]
    assert "A throttled channel could not be released" in caplog.text


def test_the_thread_is_woken_by_a_new_channel_and_by_its_shutdown() -> None:
    queue = DelayQueue(SYSTEM_TIME)
    gone_on = threading.Event()
    reaper = ThrottledChannelReaper("reaper", queue, gone_on.set)
    reaper.start()
    queue.add(ThrottledChannel(SYSTEM_TIME, 1, Channel([])))
    assert gone_on.wait(patient_s(60))
    queue.add(ThrottledChannel(SYSTEM_TIME, 3_600_000, Channel([])))
    reaper.shutdown(60)
    assert not reaper.is_alive()
    assert len(queue) == 1
