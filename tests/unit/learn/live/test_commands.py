"""A reader's commands, and the links that have them."""

from __future__ import annotations

import pytest

from kafka_learn.live.commands import Action, Command, actions_of, as_text, command

MACHINES = ["broker-0", "broker-1", "zookeeper", "clients"]


def given(*words: object) -> Command:
    return command(words, 3, MACHINES)


def test_words_become_a_command() -> None:
    assert given("kill", 1) == Command("kill", ("1",))
    assert given("kill", 1).number() == 1
    assert given("cut", "broker-0", "zookeeper").arguments == ("broker-0", "zookeeper")
    assert str(given("produce", "10", "all")) == "produce:10:all"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ((), "no command"),
        (("reboot",), "unknown command 'reboot'; known: kill,"),
        (("kill",), "kill takes 1 arguments, not 0"),
        (("kill", 3), "kill: '3' is no broker"),
        (("cut", "broker-0", "moon"), "cut: 'moon' is no machine"),
        (("produce", 0, "all"), "produce: '0' is no count"),
        (("produce", 10**9, "all"), "is no count"),
        (("produce", 1, "2"), "produce: '2' is no acks"),
        (("join", 6), "join: '6' is no consumer"),
        (("partitions", 10), "partitions: '10' is no number of partitions"),
        (("open", 3), "open: '3' is no instance"),
        (("begin", 101), "begin: '101' is no number of records"),
        (("lines", 0), "lines: '0' is no number of lines"),
        (("commit", 1), "commit takes 0 arguments, not 1"),
        (("isolation", "none"), "isolation: 'none' is no isolation"),
        (("crash", "broker-0"), "crash: 'broker-0' is no client"),
        (("replicas", 4), "replicas: '4' is no number of replicas"),
        (("alter", "retention.ms", "1"), "alter: 'retention.ms' is no setting"),
        (("alter", "min.insync.replicas", "10"), "alter: '10' is no value"),
    ],
)
def test_other_words_are_rejected_with_the_reason(words: tuple[object, ...], reason: str) -> None:
    with pytest.raises(ValueError, match=reason.replace("(", r"\(")):
        given(*words)


def test_actions_survive_their_way_through_a_link() -> None:
    actions = [
        Action(2_500_000_000, given("kill", 1)),
        Action(2_500_000_000, given("produce", 10, "all")),
        Action(61_020_000_000, given("cut", "broker-0", "clients")),
        Action(90_000_000_000, given("alter", "min.insync.replicas", "2")),
        Action(91_000_000_000, given("partitions", 5)),
        Action(92_000_000_000, given("replicas", 1)),
        Action(93_000_000_000, given("commit")),
        Action(94_000_000_000, given("crash", "instance-2")),
        Action(1_234_567_800_009, given("start", 1)),
    ]
    text = as_text(actions)
    assert text.startswith("2.5:kill:1,2.5:produce:10:all,61.02:cut:")
    assert text.endswith(
        ",90:alter:min.insync.replicas:2,91:partitions:5,92:replicas:1,93:commit,94:crash:instance-2,1234.567800009:start:1"
    )
    assert actions_of(text, 3, MACHINES) == actions
    assert actions_of("", 3, MACHINES) == []


@pytest.mark.parametrize("text", ["kill:1", "1.0:kill:9", "1.0", "x:kill:1"])
def test_a_damaged_link_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        actions_of(text, 3, MACHINES)
