"""Task 1: the ring of samples."""

import pytest

from kafka_lite.metrics.quota_rate import SampleRing


def recorded(config, *values):
    """A ring in which (ms, value) were recorded."""
    ring = SampleRing()
    for now_ms, value in values:
        ring.record(config, value, 1, now_ms)
    return ring


@pytest.mark.points(7, task=1)
def test_values_of_one_window_share_a_sample(config):
    """0 ms, 400 ms, 999 ms"""
    ring = recorded(config, (0, 5), (400, 7), (999, -2))
    assert len(ring._ring) == 1, (
        f"all three came within the window of the first, but there are {len(ring._ring)} samples"
    )
    assert ring.measure(config, 999) == 10, f"5 + 7 - 2 is 10, not {ring.measure(config, 999)}: a value may be negative"
    assert ring.oldest_start_ms(999) == 0, "the sample began with its first value, at 0"


@pytest.mark.points(6, task=1)
def test_the_next_sample_begins_with_a_value(config):
    """0 ms, 1,000 ms; then nothing until 5,300 ms"""
    ring = recorded(config, (0, 5), (1000, 7), (5300, 1))
    starts = [sample.start_ms for sample in ring._ring]
    assert starts == [0, 1000, 5300], (
        f"a value that comes a window after the sample's start begins the next one: the samples begin at {starts}"
    )
    assert ring.measure(config, 5300) == 13, (
        f"all three samples count: 5 + 7 + 1 is 13, not {ring.measure(config, 5300)}"
    )
    assert SampleRing().oldest_start_ms(42) == 42, "without a sample, the oldest start is now"
    ring = recorded(config, *((1000 * number, 1) for number in range(13)))
    found = ring.oldest_start_ms(12_000)
    assert found == 1000, (
        "the thirteenth sample takes the place of the first in the ring, so the oldest one began at 1000, "
        f"not {found}: look at all samples"
    )


@pytest.mark.points(6, task=1)
def test_a_sample_is_forgotten_after_eleven_windows(config):
    """Recorded at 0 ms; measured at 10,999 and 11,000 ms"""
    ring = recorded(config, (0, 5))
    assert ring.measure(config, 10_999) == 5, "its last event is younger than 11 windows: it counts"
    found = ring.measure(config, 11_000)
    assert found == 0, f"its last event is 11 windows old: it is forgotten, but the sum is {found}"
    assert ring.oldest_start_ms(11_000) == 11_000, "a sample that is reset begins again now"
    found = recorded(config, (0, 5), (1000, 7)).measure(config, 12_000)
    assert found == 0, f"both samples are at least 11 windows old: both are forgotten, but the sum is {found}"


@pytest.mark.points(6, task=1)
def test_the_last_event_keeps_a_sample_alive(config):
    """Recorded at 0 and 900 ms; measured at 11,500 ms"""
    ring = recorded(config, (0, 5), (900, 1))
    found = ring.measure(config, 11_500)
    assert found == 6, f"a sample lives from its last event on, which was at 900: the sum is 6, not {found}"
    assert ring.measure(config, 11_900) == 0, "11 windows after the last event it is forgotten"
