"""Figures of consumer groups: owners of partitions in a recorded run, the states, and the responses in each of them."""

from __future__ import annotations

from collections.abc import Callable

from kafka_learn.both_languages import with_chinese_twin
from kafka_learn.drawing.run_words import phrase
from kafka_learn.drawing.state_machines import draw_states
from kafka_learn.drawing.svg import PALETTE
from kafka_learn.drawing.time_line import Lane, Span, TimeLine
from kafka_learn.recording.group_by_hand import PARKED, GroupByHand, MemberByHand
from kafka_learn.recording.recorded_run import Kind, RecordedRun
from kafka_learn.recording.run_store import recorded_run
from kafka_lite.coordinator.group.group_state import VALID_PREVIOUS_STATES
from kafka_lite.testing.cluster import Cluster

_WORDS = {
    "en": {
        "partition": "partition", "group": "state of the group", "members": "members",
        "parked": "*parked*", "request": "Request",
        "new": "JoinGroup without an id", "same": "JoinGroup of a follower, unchanged",
        "leader": "JoinGroup of the leader, unchanged", "changed": "JoinGroup of a follower, changed",
        "stranger": "JoinGroup with an unknown id", "sync": "SyncGroup of a follower",
        "old": "SyncGroup, old generation",
        "heartbeat": "Heartbeat", "commit": "OffsetCommit", "alone": "OffsetCommit without a generation",
        "leave": "LeaveGroup",
    },
    "zh": {
        "partition": "分区", "group": "消费组的状态", "members": "成员",
        "parked": "**搁置**", "request": "请求",
        "new": "JoinGroup，没有编号", "same": "普通消费者的 JoinGroup，元数据没有变",
        "leader": "主消费者的 JoinGroup，元数据没有变", "changed": "普通消费者的 JoinGroup，元数据变了",
        "stranger": "JoinGroup，编号未知", "sync": "普通消费者的 SyncGroup", "old": "SyncGroup，旧的世代",
        "heartbeat": "Heartbeat", "commit": "OffsetCommit", "alone": "OffsetCommit，没有世代",
        "leave": "LeaveGroup",
    },
}  # fmt: skip


# ── who owns what ───────────────────────────────────────────────────────────────────────────────────────────────────


@with_chinese_twin
def ownership(run: RecordedRun, language: str = "en") -> TimeLine:
    """A lane for each partition, with its owners one after the other; below, the group's states and its members.

    Needs a run with ``watch_groups()`` and ``watch_members()``. Ownership is what the members know: from the end
    of ``on_join_complete`` to the beginning of ``on_join_prepare``, or to their leaving.
    """
    words = _WORDS[language]
    names = list(dict.fromkeys(event.what.removeprefix("+ ") for event in run if event.what.startswith("+ ")))
    colours = {name: PALETTE[number % len(PALETTE)] for number, name in enumerate(names)}
    owned = _owned_spans(run, colours)
    lanes = [Lane(f"{words['partition']} {number}", spans) for number, spans in sorted(owned.items())]
    lanes.append(Lane(words["group"], _state_spans(run)))
    lanes.append(Lane(words["members"], _member_spans(run, colours)))
    return TimeLine(run, lanes, language)


def _owned_spans(run: RecordedRun, colours: dict[str, str]) -> dict[int, list[Span]]:
    since: dict[tuple[str, int], int] = {}
    found: dict[int, list[Span]] = {}
    end_ns = run.events[-1].time_ns

    def end(name: str, time_ns: int) -> None:
        for who, partition in [key for key in since if key[0] == name]:
            begun = since.pop((who, partition))
            found.setdefault(partition, []).append(Span(begun, time_ns, who, colour=colours[who]))

    for event in run:
        if event.kind is Kind.NOTE and event.what.startswith("on_join_complete"):
            since |= {(event.who, partition): event.time_ns for partition in event.detail["partitions"]}
        elif event.kind is Kind.NOTE and event.what.startswith("on_join_prepare"):
            end(event.who, event.time_ns)
        elif event.kind is Kind.NOTE and event.what.startswith("− "):
            end(event.what.removeprefix("− "), event.time_ns)
    for name in colours:
        end(name, end_ns)
    return found


def _state_spans(run: RecordedRun) -> list[Span]:
    """STABLE in green, what is between two generations in orange."""
    changes = [event for event in run if event.kind is Kind.STATE]
    ends = [*(event.time_ns for event in changes[1:]), run.events[-1].time_ns]
    return [
        Span(event.time_ns, until, event.detail["after"], colour=PALETTE[2 if event.detail["after"] == "STABLE" else 1])
        for event, until in zip(changes, ends, strict=True)
    ]


def _member_spans(run: RecordedRun, colours: dict[str, str]) -> list[Span]:
    """Each member from its joining to its removal by the coordinator, in a row of its own."""
    spans, since = [], dict[str, int]()
    for event in run:
        sign, _, name = event.what.partition(" ")
        if sign == "+":
            since[name] = event.time_ns
        elif sign == "−":
            spans.append((since.pop(name), event.time_ns, name))
    spans += [(begun, run.events[-1].time_ns, name) for name, begun in since.items()]
    rows = {name: number for number, name in enumerate(colours)}
    return [Span(begun, end, name, rows[name], colours[name]) for begun, end, name in spans]


# ── the responses ────────────────────────────────────────────────────────────────────────────────────────────────

REQUESTS = (
    "new", "same", "leader", "changed", "stranger", "sync", "old", "heartbeat", "commit", "alone", "leave",
)  # fmt: skip
STATES = ("EMPTY", "PREPARING_REBALANCE", "AWAITING_SYNC", "STABLE")


def responses(language: str) -> str:
    """A table of the responses to each request in each state, from a running coordinator."""
    words = _WORDS[language]
    rows = [
        f"| {words['request']} | {' | '.join(f'`{state}`' for state in STATES)} |",
        "|---" * (len(STATES) + 1) + "|",
    ]
    with Cluster() as cluster:
        for request in REQUESTS:
            groups = {state: GroupByHand(cluster, f"{request}-{state}") for state in STATES}
            given = [_ask(group, state, request, language) for state, group in groups.items()]
            cells = " | ".join(given).replace(PARKED, words["parked"])
            rows.append(f"| {words[request]} | {cells} |")
    return "\n".join(rows) + "\n"


def _code(name: str) -> str:
    """A long name that may be broken at its underscores, so that the table fits on a page."""
    return f"<code>{name.replace('_', '_<wbr>')}</code>"


def _ask(group: GroupByHand, state: str, request: str, language: str) -> str:
    """The response to a request in a state, and the next state if it changes."""
    leader, follower = group.member("ann"), group.member("bob")
    _bring_into(group, leader, follower, state)
    if group.state != state:
        raise RuntimeError(f"the group is {group.state}, and not {state}")
    response = phrase(_send(group, leader, follower, request).response, language)
    if response.isupper():
        response = _code(response)
    return response if group.state == state else f"{response} → {_code(group.state)}"


def _bring_into(group: GroupByHand, leader: MemberByHand, follower: MemberByHand, state: str) -> None:
    """A generation of two, and then on (or back) to the state."""
    leader.join()
    follower.join()
    leader.join()
    if state == "AWAITING_SYNC":
        return
    leader.sync({leader: b"0", follower: b"1"})
    follower.sync()
    if state == "PREPARING_REBALANCE":
        group.member("cid").join()
    if state == "EMPTY":
        leader.leave()
        follower.leave()


def _send(group: GroupByHand, leader: MemberByHand, follower: MemberByHand, request: str) -> MemberByHand:
    stranger = group.member("eve")
    match request:
        case "new":
            return stranger.join()
        case "alone":
            return stranger.commit(1)
        case "stranger":
            stranger.member_id = "eve-1"
            return stranger.join()
        case "changed":
            return follower.join(topics=("demo", "other"))
        case "old":
            follower.generation_id -= 1
            return follower.sync()
    sending: dict[str, Callable[[], MemberByHand]] = {
        "same": follower.join, "leader": leader.join, "sync": follower.sync, "heartbeat": follower.heartbeat,
        "commit": lambda: follower.commit(1), "leave": follower.leave,
    }  # fmt: skip
    return sending[request]()


# ── for pages ───────────────────────────────────────────────────────────────────────────────────────────────────────


def one_to_five(language: str) -> str:
    """The owners of four partitions while five consumers join and four of them leave."""
    return ownership(recorded_run("chapters.ch05_coordinator.figures.group_runs:one_to_five"), language).svg()


def group_states(_language: str) -> str:
    """The state machine of a group."""
    return draw_states(VALID_PREVIOUS_STATES).svg()
