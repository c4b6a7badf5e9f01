"""The options of share-groups, and what it prints of a cluster of one broker."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages import api_77_share_group_describe as describe
from kafka_lite.protocol.messages import api_90_describe_share_group_offsets as offsets_of
from kafka_lite.protocol.messages import api_91_alter_share_group_offsets as alter
from kafka_lite.protocol.messages import api_92_delete_share_group_offsets as delete
from kafka_lite.protocol.messages.api_10_find_coordinator import FindCoordinatorResponse
from kafka_lite.protocol.messages.api_16_list_groups import ListedGroup, ListGroupsResponse
from kafka_lite.protocol.messages.api_42_delete_groups import DeletableGroupResult, DeleteGroupsResponse
from kafka_lite.protocol.schema import Response
from kafka_lite.tools.groups import share_groups
from tests.support.scripted_channel import ScriptedChannel, metadata

COORDINATOR = FindCoordinatorResponse(node_id=1)


def parse(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    share_groups.add_arguments(parser)
    return parser.parse_args(["--bootstrap-server", "127.0.0.1:1", *arguments])


class Tool:
    """Runs the tool with a broker that gives these responses."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.monkeypatch, self.capsys = monkeypatch, capsys
        self.error = ""

    def __call__(self, *arguments: str, responses: list[Response] | None = None) -> tuple[int, list[str]]:
        channel = ScriptedChannel(metadata(), *(responses or []))
        channel.refresh()
        channel.versions = dict.fromkeys(ApiKey, (0, 9))

        @contextmanager
        def connected(_options: argparse.Namespace) -> Iterator[ScriptedChannel]:
            yield channel

        self.monkeypatch.setattr(share_groups, "admin_channel", connected)
        code = share_groups.run(parse(*arguments))
        printed = self.capsys.readouterr()
        self.error = printed.err
        return code, [" ".join(line.split()) for line in printed.out.splitlines()]


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Tool:
    return Tool(monkeypatch, capsys)


def listed(**states: str) -> ListGroupsResponse:
    groups = [ListedGroup(group_id=group, group_state=state, group_type="share") for group, state in states.items()]
    return ListGroupsResponse(groups=[*groups, ListedGroup(group_id="other", group_type="consumer")])


def described(state: str = "Stable", error: Errors = Errors.NONE) -> describe.ShareGroupDescribeResponse:
    assignment = describe.Assignment(topic_partitions=[describe.TopicPartitions(topic_name="t", partitions=[1, 0])])
    member = describe.Member(member_id="m", client_host="/h", client_id="c", member_epoch=3, assignment=assignment)
    group = describe.DescribedGroup(
        group_id="g",
        group_state=state,
        group_epoch=4,
        assignment_epoch=3,
        error_code=error.code,
        members=[member] if state == "Stable" else [],
    )
    return describe.ShareGroupDescribeResponse(groups=[group])


def positions(*offsets: int) -> offsets_of.DescribeShareGroupOffsetsResponse:
    partitions = [
        offsets_of.DescribeShareGroupOffsetsResponsePartition(partition_index=at, start_offset=each, leader_epoch=2)
        for at, each in enumerate(offsets)
    ]
    topic = offsets_of.DescribeShareGroupOffsetsResponseTopic(topic_name="t", partitions=partitions)
    group = offsets_of.DescribeShareGroupOffsetsResponseGroup(group_id="g", topics=[topic])
    return offsets_of.DescribeShareGroupOffsetsResponse(groups=[group])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--describe"], "--group or --all-groups is required"),
        (["--delete"], "--group or --all-groups is required"),
        (["--describe", "--group", "g", "--state", "stable"], "--state takes no value"),
        (["--delete", "--group", "g", "--topic", "t"], "use --delete-offsets"),
        (["--delete-offsets", "--group", "g"], "requires exactly one --group, and --topic"),
        (["--reset-offsets", "--group", "g", "--to-latest"], "--topic or --all-topics"),
        (["--reset-offsets", "--group", "g", "--all-topics", "--to-latest"], "requires --dry-run or --execute"),
        (["--list", "--state", "Assigning"], "Invalid state list 'Assigning'. Valid states are: Empty, Stable, Dead"),
    ],
)
def test_contradictory_options_are_rejected(tool: Tool, arguments: list[str], message: str) -> None:
    assert tool(*arguments)[0] == 1
    assert message in tool.error


def test_share_groups_are_listed_and_no_others(tool: Tool) -> None:
    assert tool("--list", responses=[listed(b="Empty", a="Stable")]) == (0, ["a", "b"])
    assert tool("--list", "--state", responses=[listed(b="Empty", a="Stable")]) == (
        0,
        ["GROUP STATE", "a Stable", "b Empty"],
    )
    assert tool("--list", "--state", "empty", responses=[listed(b="Empty", a="Stable")])[1] == [
        "GROUP STATE",
        "b Empty",
    ]


def test_offsets_are_described(tool: Tool) -> None:
    responses: list[Response] = [COORDINATOR, described(), COORDINATOR, positions(7, -1)]
    assert tool("--describe", "--group", "g", responses=responses) == (
        0,
        ["GROUP TOPIC PARTITION START-OFFSET", "g t 0 7", "g t 1 -"],
    )
    responses = [COORDINATOR, described(), COORDINATOR, positions(7, -1)]
    assert tool("--describe", "--offsets", "--verbose", "--group", "g", responses=responses)[1] == [
        "GROUP TOPIC PARTITION LEADER-EPOCH START-OFFSET",
        "g t 0 2 7",
        "g t 1 - -",
    ]


def test_members_are_described(tool: Tool) -> None:
    assert tool("--describe", "--members", "--group", "g", responses=[COORDINATOR, described()]) == (
        0,
        ["GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS ASSIGNMENT", "g m /h c 2 t:0,1"],
    )
    responses: list[Response] = [COORDINATOR, described()]
    assert tool("--describe", "--members", "--verbose", "--group", "g", responses=responses)[1] == [
        "GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS MEMBER-EPOCH ASSIGNMENT",
        "g m /h c 2 3 t:0,1",
    ]
    assert tool("--describe", "--members", "--group", "g", responses=[COORDINATOR, described("Empty")]) == (0, [])
    assert "Share group 'g' has no active members." in tool.error


def test_states_are_described(tool: Tool) -> None:
    code, lines = tool("--describe", "--state", "--group", "g", responses=[COORDINATOR, described()])
    assert (code, lines[0]) == (0, "GROUP COORDINATOR (ID) STATE #MEMBERS")
    assert lines[1].endswith("(1) Stable 1")
    lines = tool("--describe", "--state", "--verbose", "--group", "g", responses=[COORDINATOR, described()])[1]
    assert lines[0] == "GROUP COORDINATOR (ID) STATE GROUP-EPOCH ASSIGNMENT-EPOCH #MEMBERS"
    assert lines[1].endswith("(1) Stable 4 3 1")


def test_a_group_that_there_is_not_is_an_error(tool: Tool) -> None:
    responses: list[Response] = [COORDINATOR, described(error=Errors.GROUP_ID_NOT_FOUND)]
    assert tool("--describe", "--group", "g", responses=responses) == (1, [])
    assert "Share group 'g' does not exist." in tool.error


def test_groups_without_members_are_deleted(tool: Tool) -> None:
    done = DeleteGroupsResponse(results=[DeletableGroupResult(group_id="g")])
    assert tool("--delete", "--group", "g", responses=[listed(g="Empty"), COORDINATOR, done]) == (
        0,
        ["Deletion of requested share groups ('g') was successful."],
    )
    code, lines = tool(
        "--delete", "--group", "none", "--group", "b", "--group", "g",
        responses=[listed(g="Empty", b="Stable"), COORDINATOR, done],
    )  # fmt: skip
    assert (code, lines) == (
        1,
        [
            "* Group 'none' could not be deleted due to: Group 'none' is not a share group.",
            "* Group 'b' could not be deleted due to: Share group 'b' is not EMPTY.",
            "These share groups were deleted successfully: 'g'",
        ],
    )


def test_offsets_are_deleted_topic_by_topic(tool: Tool) -> None:
    topics = [
        delete.DeleteShareGroupOffsetsResponseTopic(topic_name="t"),
        delete.DeleteShareGroupOffsetsResponseTopic(topic_name="u", error_code=3, error_message="nothing"),
    ]
    response = delete.DeleteShareGroupOffsetsResponse(responses=topics)
    arguments = ("--delete-offsets", "--group", "g", "--topic", "t", "--topic", "u")
    assert tool(*arguments, responses=[COORDINATOR, response]) == (
        1,
        ["TOPIC STATUS", "t Successful", "u Error: nothing"],
    )
    refused = delete.DeleteShareGroupOffsetsResponse(error_code=Errors.NON_EMPTY_GROUP.code)
    assert tool(*arguments, responses=[COORDINATOR, refused]) == (1, [])
    assert "NON_EMPTY_GROUP" in tool.error


def test_offsets_of_groups_with_members_are_not_reset(tool: Tool) -> None:
    arguments = ("--reset-offsets", "--group", "g", "--all-topics", "--to-earliest", "--execute")
    assert tool(*arguments, responses=[COORDINATOR, described()]) == (1, [])
    assert "Share group 'g' is not empty." in tool.error


def test_a_reset_needs_a_scenario(tool: Tool) -> None:
    arguments = ("--reset-offsets", "--group", "g", "--all-topics", "--execute")
    assert tool(*arguments, responses=[COORDINATOR, described("Empty"), COORDINATOR, positions(1)])[0] == 1
    assert "--to-earliest, --to-latest or --to-datetime" in tool.error


def test_offsets_that_are_refused_are_named(tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        share_groups.ShareGroupService, "log_offsets", lambda _self, partitions, _time: dict.fromkeys(partitions, 9)
    )
    altered = alter.AlterShareGroupOffsetsResponse(
        responses=[
            alter.AlterShareGroupOffsetsResponseTopic(
                topic_name="t",
                partitions=[
                    alter.AlterShareGroupOffsetsResponsePartition(partition_index=0),
                    alter.AlterShareGroupOffsetsResponsePartition(partition_index=1, error_code=3),
                ],
            )
        ]
    )
    responses: list[Response] = [COORDINATOR, described("Empty"), COORDINATOR, positions(1, 1), COORDINATOR, altered]
    arguments = ("--reset-offsets", "--group", "g", "--all-topics", "--to-latest", "--execute")
    code, lines = tool(*arguments, responses=responses)
    assert (code, lines[1:]) == (1, ["g t 0 9"])
    assert "the offset of t-1 is not reset: UNKNOWN_TOPIC_OR_PARTITION" in tool.error
