"""Task 4: where the time is spent."""

import pytest

STATIONS = (
    "request_dequeue_time_ms",
    "api_local_complete_time_ms",
    "api_remote_complete_time_ms",
    "response_complete_time_ms",
    "response_dequeue_time_ms",
)
PHASES = ("request_queue_ms", "local_ms", "remote_ms", "throttle_ms", "response_queue_ms", "response_send_ms")


def times_of(request, stations, end_ms):
    for name, time_ms in zip(STATIONS, stations, strict=True):
        setattr(request, name, time_ms)
    times = request.times(end_ms)
    return {name: getattr(times, name) for name in PHASES}, times.total_ms


def must_be(found, wanted):
    wrong = [f"{name} is {found[name]}, not {ms}" for name, ms in zip(PHASES, wanted, strict=True) if found[name] != ms]
    assert not wrong, "; ".join(wrong)


@pytest.mark.points(5, task=4)
def test_a_request_with_all_phases(new_request):
    """Six phases of 1, 2, 4, 8, 16, 32 ms"""
    phases, total = times_of(new_request(), (1001, 1003, 1007, 1015, 1031), 1063)
    must_be(phases, (1, 2, 4, 8, 16, 32))
    assert total == 63, f"from the start to the last byte it took 63 ms, not {total}"


@pytest.mark.points(5, task=4)
def test_a_request_that_did_not_wait_has_no_remote_time(new_request):
    """Not in purgatory"""
    phases, _ = times_of(new_request(), (1001, 1003, -1, 1004, 1005), 1006)
    assert phases["remote_ms"] == 1, (
        "api_remote_complete_time_ms is unset, so the end of the response is used instead: remote_ms "
        f"is the time between 1003 and 1004, not {phases['remote_ms']}"
    )
    must_be(phases, (1, 2, 1, 0, 1, 1))


@pytest.mark.points(4, task=4)
def test_no_phase_is_negative(new_request):
    """Another thread responds before the handler returns"""
    late, _ = times_of(new_request(), (1001, 1009, -1, 1004, 1005), 1006)
    unset, _ = times_of(new_request(), (1001, -1, -1, 1004, 1005), 1006)
    negative = {name: ms for phases in (late, unset) for name, ms in phases.items() if ms < 0}
    assert not negative, f"no phase is negative: {negative}. The local time may be recorded late, or not at all"
    must_be(unset, (1, 3, 0, 0, 1, 1))


@pytest.mark.points(1, task=4)
def test_a_clock_that_begins_at_zero(new_request):
    """The handler is done at 0 ms, the response at 5 ms"""
    phases, _ = times_of(new_request(), (0, 0, 0, 5, 5), 6)
    assert phases["local_ms"] == 0, "api_local_complete_time_ms is 0, which is a time: only below 0 it is unset"
    assert phases["throttle_ms"] == 5, "api_remote_complete_time_ms is 0, which is a time: only below 0 it is unset"
