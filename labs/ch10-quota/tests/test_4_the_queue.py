"""Task 4: the queue of those that wait."""

import threading

import pytest

from kafka_lite.common.time import SYSTEM_TIME
from kafka_lite.server.quotas.throttled_channel import DelayQueue, ThrottledChannel


class Callback:
    """Does nothing to its connection."""

    def start_throttling(self):
        pass

    def end_throttling(self):
        pass


def channel(time, delay_ms):
    return ThrottledChannel(time, delay_ms, Callback())


@pytest.mark.points(8, task=4)
def test_channels_come_in_the_order_of_their_ends(time):
    """300, 100, 200 and again 100 ms"""
    queue = DelayQueue(time)
    channels = [channel(time, delay_ms) for delay_ms in (300, 100, 200, 100)]
    for each in channels:
        queue.add(each)
    assert len(queue) == 4, f"four channels wait, not {len(queue)}"
    began_ms = time.hi_res_ms()
    for number, after_ms in ((1, 100), (3, 100), (2, 200), (0, 300)):
        taken = queue.poll(1000)
        assert taken is channels[number], "the first end comes first; of equal ends, the one that was added first"
        waited_ms = time.hi_res_ms() - began_ms
        assert waited_ms >= after_ms, f"it was taken after {waited_ms:.0f} ms, but its delay is not over"
    assert len(queue) == 0, "what was taken is no longer in the queue"


@pytest.mark.points(5, task=4)
def test_a_poll_that_finds_nothing_ends(time):
    """Nothing there; a channel whose delay is longer"""
    queue = DelayQueue(time)
    assert queue.poll(500) is None, "nothing was added: None"
    queue.add(channel(time, 2000))
    assert queue.poll(500) is None, "its delay is not over after 500 ms: None"
    assert len(queue) == 1, "it still waits"


@pytest.mark.points(7, task=4)
def test_a_waiting_poll_is_told_of_what_happens():
    """A channel that ends earlier; a wake-up"""
    queue, taken = DelayQueue(SYSTEM_TIME), []
    queue.add(channel(SYSTEM_TIME, 60_000))
    waits = threading.Thread(target=lambda: taken.append(queue.poll(60_000)), daemon=True)
    waits.start()
    SYSTEM_TIME.sleep(100)
    early = channel(SYSTEM_TIME, 1)
    queue.add(early)
    waits.join(3)
    assert taken == [early], "poll waits for a later channel and must be told of one that ends earlier"
    queue.wake()
    assert queue.poll(60_000) is None, "after wake, the next poll returns None at once"
    queue.add(channel(SYSTEM_TIME, 0))
    assert queue.poll(1000) is not None, "wake interrupts one poll only: the next one waits and takes again"
