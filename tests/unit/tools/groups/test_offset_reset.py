"""Which offsets a reset chooses: without I/O, with a table in place of logs."""

from datetime import timedelta

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.tools.common.tool_errors import ToolError
from kafka_lite.tools.groups import offset_reset

P0, P1, P2 = (TopicPartition("flights", number) for number in range(3))
NOON = 1_000_000


TABLE = {
    P0: {offset_reset.EARLIEST: 10, offset_reset.LATEST: 20, NOON: 15},
    P1: {offset_reset.EARLIEST: 0, offset_reset.LATEST: 0},
}


class Logs:
    """P0 has the offsets 10 to 19, P1 is empty, P2 has no leader. P0's records since NOON begin at 15."""

    def log_offsets(self, partitions, timestamp):
        known = {partition: TABLE.get(partition, {}) for partition in partitions}
        return {partition: times[timestamp] for partition, times in known.items() if timestamp in times}


@pytest.mark.parametrize(
    ("scenario", "expected"),
    [
        (offset_reset.to_earliest(), {P0: 10, P1: 0}),
        (offset_reset.to_latest(), {P0: 20, P1: 0}),
        (offset_reset.to_offset(12), {P0: 12, P1: 0}),
        (offset_reset.to_offset(3), {P0: 10, P1: 0}),
        (offset_reset.to_offset(99), {P0: 20, P1: 0}),
        (offset_reset.to_time("--to-datetime", NOON), {P0: 15, P1: 0}),
        (offset_reset.to_time("--by-duration", NOON + 1), {P0: 20, P1: 0}),
        (offset_reset.to_current(), {P0: 17, P1: 0}),
        (offset_reset.from_file({P0: 11}), {P0: 11}),
    ],
)
def test_scenarios_choose_these_offsets(scenario, expected):
    assert scenario.offsets([P0, P1], {P0: 17}, Logs()) == expected


@pytest.mark.parametrize(("count", "expected"), [(2, 19), (-2, 15), (50, 20), (-50, 10)])
def test_a_shift_stays_within_the_log(count, expected):
    assert offset_reset.shift_by(count).offsets([P0], {P0: 17}, Logs()) == {P0: expected}


def test_an_offset_outside_of_the_log_is_warned_about(caplog):
    offset_reset.within_logs({P0: 99, P1: 0}, Logs())
    offset_reset.within_logs({P0: 3}, Logs())
    assert caplog.messages == [
        "New offset (99) is higher than latest offset for topic partition flights-0. Value will be set to 20",
        "New offset (3) is lower than earliest offset for topic partition flights-0. Value will be set to 10",
    ]


def test_a_shift_needs_a_committed_offset():
    with pytest.raises(ToolError, match="flights-1 since there is no current committed offset"):
        offset_reset.shift_by(1).offsets([P0, P1], {P0: 17}, Logs())


@pytest.mark.parametrize("scenario", [offset_reset.to_earliest(), offset_reset.to_latest(), offset_reset.to_current()])
def test_a_partition_without_a_leader_is_reported(scenario):
    with pytest.raises(ToolError, match="of topic partition: flights-2"):
        scenario.offsets([P2], {}, Logs())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1970-01-01T00:00:01", 1000),
        ("1970-01-01T00:00:01.250", 1250),
        ("1970-01-01T02:00:00.000+02:00", 0),
        ("1970-01-01T00:00:01Z", 1000),
    ],
)
def test_timestamps_are_parsed(text, expected):
    assert offset_reset.parse_datetime(text) == expected


@pytest.mark.parametrize("text", ["yesterday", "1970-01-01", "", "12:00", "10000-01-01T00:00:00", "2026-02-30T00:00"])
def test_malformed_timestamps_are_rejected(text):
    with pytest.raises(ToolError, match="--to-datetime"):
        offset_reset.parse_datetime(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("P7D", timedelta(days=7)),
        ("PT1H30M", timedelta(hours=1, minutes=30)),
        ("P1DT0.5S", timedelta(days=1, seconds=0.5)),
        ("-PT1M", timedelta(minutes=-1)),
        ("PT-1M", timedelta(minutes=-1)),
    ],
)
def test_durations_are_parsed(text, expected):
    assert offset_reset.parse_duration(text) == expected


@pytest.mark.parametrize(
    "text", ["P99999999999D", "-P99999999999D", "PT99999999999999999999S", "PT9999999999999999H", f"P{'9' * 400}D"]
)
def test_durations_out_of_range_are_rejected(text):
    with pytest.raises(ToolError, match=r"--by-duration: .* is too long: at most 999999999 days"):
        offset_reset.parse_duration(text)


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59.999-14:00", "1969-12-31T23:59:59"])
def test_the_first_and_the_last_moment_of_the_calendar_are_parsed(text):
    before_1970 = text < "1970"
    assert (offset_reset.parse_datetime(text) < 0) is before_1970


@pytest.mark.parametrize("timestamp_ms", [-1, -2, -3, -86_400_000])
def test_a_time_before_1970_is_before_all_records(timestamp_ms):
    assert offset_reset.to_time("--to-datetime", timestamp_ms).offsets([P0, P1], {}, Logs()) == {P0: 10, P1: 0}


@pytest.mark.parametrize("text", ["", "P", "PT", "P1DT", "7D", "P1H", "PT1D", "an hour"])
def test_malformed_durations_are_rejected(text):
    with pytest.raises(ToolError, match="--by-duration"):
        offset_reset.parse_duration(text)


def test_a_plan_is_read_back_from_csv():
    plan = {"b": {P1: 3, P0: 7}, "a": {P0: 1}}
    text = offset_reset.plan_as_csv(plan, with_group=True)
    assert text == "a,flights,0,1\nb,flights,0,7\nb,flights,1,3\n"
    assert offset_reset.parse_plan(text, ["a", "b"]) == plan
    alone = offset_reset.plan_as_csv({"a": {P0: 1}}, with_group=False)
    assert alone == "flights,0,1\n"
    assert offset_reset.parse_plan(alone + "\n", ["a"]) == {"a": {P0: 1}}


@pytest.mark.parametrize(
    ("text", "groups", "message"),
    [
        ("flights,0,1", ["a", "b"], "names no group"),
        ("flights,0", ["a"], "line 1 is not of the form"),
        ("flights,zero,1", ["a"], "line 1 is not of the form"),
        ("flights,0,1\n,0,1", ["a"], "line 2 is not of the form"),
        ("a,flights,0,-1", ["a"], "line 1 is not of the form"),
    ],
)
def test_malformed_plans_are_rejected(text, groups, message):
    with pytest.raises(ToolError, match=message):
        offset_reset.parse_plan(text, groups)
