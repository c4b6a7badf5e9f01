"""Recorded runs of three brokers show what the chapter on the controller says about them."""

from chapters.ch07_controller.figures import controller_figures, controller_runs
from kafka_learn.recording.recorded_run import Kind, RecordedRun


def states(run: RecordedRun, what: str) -> list[str]:
    """The states of a partition or replica, one after the other."""
    found = [event.detail for event in run if event.kind is Kind.STATE and event.what == what]
    return [found[0]["before"], *(each["after"] for each in found)] if found else []


def happens_before(run: RecordedRun, *beginnings: str) -> bool:
    """Whether events with these beginnings of ``who: what`` happened in this order."""
    happened = iter(f"{event.who}: {event.what}" for event in run)
    return all(any(one.startswith(beginning) for one in happened) for beginning in beginnings)


def test_a_topic_is_created_in_zookeeper_before_the_brokers_are_told() -> None:
    run = controller_runs.topic_creation()
    assert states(run, "demo-0") == ["NON_EXISTENT", "NEW", "ONLINE"]
    for broker_id in (1, 2, 3):
        assert states(run, f"demo-0 on {broker_id}") == ["NON_EXISTENT", "NEW", "ONLINE"]
    assert happens_before(
        run, "ZooKeeper: create /brokers/topics/demo", "broker 1: TopicChange",
        "ZooKeeper: create …/demo/partitions/0/state", "broker 2: LeaderAndIsr", "broker 2: leads demo-0",
    )  # fmt: skip


def test_a_topic_is_deleted_on_the_disks_first_and_its_mark_last() -> None:
    run = controller_runs.topic_deletion()
    path = ["ONLINE", "OFFLINE", "DELETION_STARTED", "DELETION_SUCCESSFUL", "NON_EXISTENT"]
    for broker_id in (1, 2, 3):
        assert states(run, f"demo-0 on {broker_id}") == path
        assert happens_before(run, f"broker {broker_id}: deletes demo-0", "ZooKeeper: delete /brokers/topics/demo")
    assert happens_before(run, "ZooKeeper: delete /brokers/topics", "ZooKeeper: delete /admin/delete_topics")


def test_a_follower_asks_the_new_leader_where_the_old_epoch_ends() -> None:
    run = controller_runs.leader_dies()
    assert states(run, "demo-0") == ["ONLINE", "OFFLINE", "ONLINE"]
    assert happens_before(run, "broker 2: dies", "broker 1: BrokerChange", "broker 3: leads demo-0, epoch 1")
    assert happens_before(run, "broker 3: OffsetForLeaderEpoch", "broker 1: epoch 0 ends at 1")


def test_another_broker_becomes_the_controller_with_the_next_epoch() -> None:
    run = controller_runs.controller_dies()
    assert happens_before(run, "broker 1: dies", "ZooKeeper: create /controller", "ZooKeeper: set /controller_epoch")
    [elected] = [event for event in run if event.what.startswith("is the controller")]
    assert elected.what == "is the controller, epoch 2"
    assert elected.who in ("broker 2", "broker 3")


def test_a_broker_that_stops_leads_nothing_any_more_before_its_session_ends() -> None:
    run = controller_runs.controlled_shutdown()
    moved = ["broker 1: ControlledShutdown", "ZooKeeper: set …/demo/partitions/0/state"]
    assert happens_before(run, *moved, "broker 2: leads nothing any more", "broker 1: BrokerChange")
    # The controller responds as soon as it has written: the new leader may hear of it after the old one.
    assert happens_before(run, *moved, "broker 3: leads demo-0")


def test_a_partition_moves_before_the_old_replica_is_deleted() -> None:
    run = controller_runs.reassignment()
    assert states(run, "demo-0 on 3") == ["NON_EXISTENT", "NEW", "ONLINE"]
    assert happens_before(
        run, "ZooKeeper: create /admin/reassign_partitions", "broker 3: LeaderAndIsr", "broker 2: deletes demo-0"
    )


def test_the_table_of_elections_has_what_the_selectors_say_in_both_languages() -> None:
    english, chinese = (controller_figures.elections(language) for language in ("en", "zh"))
    assert "| broker 1 dies | 3 1 | 2 3 | **3** | 3 | nothing |" in english
    assert "| the same, unclean elections allowed | 1 | 2 3 | **2** | 2 | what 2 had not fetched |" in english
    assert len(english.splitlines()) == len(chinese.splitlines())


def test_the_next_coordinator_reads_the_group_before_the_member_goes_on() -> None:
    run = controller_runs.group_migration()
    assert happens_before(
        run, "member: generation 1: NONE", "broker 3: leads __consumer_offsets-0", "broker 3: coordinator of",
        "broker 3: has read group readers: generation 1, 1 member", "member: the coordinator is broker 3",
        "member: generation 1: NONE", "member: committed: offset 5",
    )  # fmt: skip
    # A broker that stops need not wait for the request that tells it so.
    told = [event.what for event in run if event.who == "broker 2" and event.what != "Heartbeat"]
    assert told in ([], ["__consumer_offsets-0 follows broker 3, epoch 1", "forgets group readers"])
