"""The options of consumer-groups and its columns; the service itself is tested with brokers."""

import argparse
import dataclasses
import io
from types import MappingProxyType

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_03_metadata import MetadataResponseBroker
from kafka_lite.protocol.messages.api_16_list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from kafka_lite.protocol.messages.consumer_protocol import ConsumerProtocolAssignment
from kafka_lite.protocol.messages.consumer_protocol import TopicPartition as Assigned
from kafka_lite.protocol.version_prefixed import encode_with_version
from kafka_lite.tools.common.tool_errors import ToolError
from kafka_lite.tools.groups import consumer_groups, consumer_groups_view
from kafka_lite.tools.groups.consumer_group_service import (
    ConsumerGroupService,
    GroupDescription,
    GroupListing,
    Member,
    ModernMember,
    PartitionRow,
    assigned_partitions,
)

F0, F1, W3 = TopicPartition("flights", 0), TopicPartition("flights", 1), TopicPartition("weather", 3)
ADA = Member("ada-1f", "", "/127.0.0.1", "ada", (F0, F1, W3))
BOB = Member("bob-2e", "", "/10.0.0.1", "bob", ())
GROUP = GroupDescription("g", "Stable", "range", MetadataResponseBroker(node_id=7, host="h", port=9092), (ADA, BOB))


def parse(*arguments):
    parser = argparse.ArgumentParser()
    consumer_groups.add_arguments(parser)
    return parser.parse_args(["--bootstrap-server", "127.0.0.1:1", *arguments])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--describe"], "--group or --all-groups is required"),
        (["--delete"], "--group or --all-groups is required"),
        (["--delete-offsets", "--group", "g"], "requires exactly one --group, and --topic"),
        (
            ["--delete-offsets", "--group", "g", "--group", "h", "--topic", "t"],
            "requires exactly one --group, and --topic",
        ),
        (["--delete", "--group", "g", "--topic", "t"], "use --delete-offsets"),
        (["--describe", "--group", "g", "--state", "stable"], "--state takes no value"),
        (["--describe", "--group", "g", "--watch"], "on a terminal"),
        (["--reset-offsets", "--group", "g", "--to-earliest"], "requires --topic, --all-topics or --from-file"),
    ],
)
def test_contradictory_options_are_rejected(arguments, message, capsys):
    assert consumer_groups.run(parse(*arguments)) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "flag"),
    [
        (["--to-earliest"], "--to-earliest"),
        (["--to-latest"], "--to-latest"),
        (["--to-current"], "--to-current"),
        (["--to-offset", "0"], "--to-offset"),
        (["--shift-by", "0"], "--shift-by"),
        (["--shift-by", "-3"], "--shift-by"),
        (["--to-datetime", "2026-11-21T00:00:00.000"], "--to-datetime"),
        (["--by-duration", "P1D"], "--by-duration"),
        (["--from-file", "plan.csv"], "--from-file"),
    ],
)
def test_each_reset_scenario_is_recognised(arguments, flag):
    options = parse("--reset-offsets", "--group", "g", "--all-topics", *arguments)
    assert consumer_groups.scenario_of(options, {}, 0).flag == flag


def test_a_reset_needs_a_scenario():
    with pytest.raises(ToolError, match="requires a scenario: --to-earliest"):
        consumer_groups.scenario_of(parse("--reset-offsets", "--group", "g", "--all-topics"), {}, 0)


def test_state_names_match_kafka():
    assert consumer_groups.parse_names("stable, EMPTY", consumer_groups.STATES, "state") == ["Stable", "Empty"]
    with pytest.raises(ToolError, match=r"Invalid state list 'busy'\. Valid are: Stable, PreparingRebalance"):
        consumer_groups.parse_names("busy", consumer_groups.STATES, "state")


def test_partitions_are_given_by_number_or_by_topic():
    def partitions_of(topics):
        return {topic: [0, 1] for topic in topics if topic != "nowhere"}

    named, unknown = consumer_groups.partitions_named(["flights", "weather:3,4", "nowhere"], partitions_of)
    assert named == {F0, F1, W3, TopicPartition("weather", 4)}
    assert unknown == {"nowhere"}
    for text in ("flights:", "flights:x", ":1"):
        with pytest.raises(ToolError, match="not of the form topic"):
            consumer_groups.partitions_named([text], partitions_of)


def test_columns_match_kafka(capsys):
    consumer_groups_view.print_offsets([
        PartitionRow("g", "flights", 0, 7, 10, ADA), PartitionRow("g", "flights", 1, None, 4), PartitionRow("g"),
    ])  # fmt: skip
    assert capsys.readouterr().out.splitlines() == [
        "GROUP           TOPIC           PARTITION  CURRENT-OFFSET LOG-END-OFFSET LAG            "
        "CONSUMER-ID     HOST            CLIENT-ID",
        "g               flights         0          7              10             3              "
        "ada-1f          /127.0.0.1      ada",
        "g               flights         1          -              4              -              "
        "-               -               -",
        "g               -               -          -              -              -              "
        "-               -               -",
    ]


def test_members_are_printed_with_their_partitions(capsys):
    consumer_groups_view.print_members(GROUP, verbose=True)
    lines = [line.split(maxsplit=5) for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS", "ASSIGNMENT"]
    assert lines[1] == ["g", "ada-1f", "/127.0.0.1", "ada", "3", "flights(0,1), weather(3)"]
    assert lines[2] == ["g", "bob-2e", "/10.0.0.1", "bob", "0", "-"]


def test_members_of_kip_848_are_printed_with_their_epochs(capsys):
    member = ModernMember("m-1", "", "/127.0.0.1", "m", (F0, F1), 6, 7, (F0,))
    consumer_groups_view.print_members(dataclasses.replace(GROUP, members=(member,)), verbose=True)
    columns, row = (line.split() for line in capsys.readouterr().out.splitlines())
    assert columns[5:] == ["CURRENT-EPOCH", "CURRENT-ASSIGNMENT", "TARGET-EPOCH", "TARGET-ASSIGNMENT"]
    assert row[4:] == ["2", "6", "flights(0,1)", "7", "flights(0)"]


def test_listings_show_type_and_state_on_request(capsys):
    listings = [GroupListing("a", "Stable"), GroupListing("b", "Empty")]
    consumer_groups_view.print_listings(listings, with_type=False, with_state=False)
    consumer_groups_view.print_listings(listings, with_type=True, with_state=True)
    words = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert words == [["a"], ["b"], ["GROUP", "TYPE", "STATE"], ["a", "Classic", "Stable"], ["b", "Classic", "Empty"]]


@pytest.mark.parametrize(("told", "shown"), [("classic", "Classic"), ("consumer", "Consumer"), ("", "Classic")])
def test_type_names_match_kafka(told, shown):
    """They are lower case on the wire; a broker older than 3.8 does not send them."""

    class Channel:
        brokers = MappingProxyType({7: None})
        time = MockTime()

        def send(self, *_):
            return ListGroupsResponse(groups=[ListedGroup(group_id="g", protocol_type="consumer", group_type=told)])

        def api_versions(self, _):
            return {ListGroupsRequest.API_KEY: (0, 5)}

    assert ConsumerGroupService(Channel()).list_groups() == [GroupListing("g", "", shown)]


def test_the_live_view_shows_members_without_partitions_and_partitions_without_members():
    from rich.console import Console

    console = Console(width=120, record=True, file=io.StringIO())
    rows = [PartitionRow("g", "flights", 0, 7, 10, ADA), PartitionRow("g", "flights", 9, 1, 1)]
    console.print(consumer_groups_view.live_view(GROUP, rows, ["Empty", "PreparingRebalance", "Stable"]))
    text = console.export_text()
    for part in ("g  Stable  range · 2 members · coordinator 7", "Empty → PreparingRebalance → Stable", "flights-0"):
        assert part in text
    assert "nothing" in next(line for line in text.splitlines() if " bob" in line)
    assert "flights-9" in next(line for line in text.splitlines() if " nobody" in line)


def test_a_malformed_assignment_is_treated_as_empty():
    message = ConsumerProtocolAssignment(assigned_partitions=[Assigned(topic="flights", partitions=[1, 0])])
    assert assigned_partitions(encode_with_version(message, 1)) == (F0, F1)
    assert assigned_partitions(b"") == ()
    assert assigned_partitions(b"\x00\x00\xff") == ()
