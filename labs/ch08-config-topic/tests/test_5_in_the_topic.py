"""Task 5: two stores share a topic on a broker."""

from contextlib import contextmanager

import pytest

from kafka_learn.labs.clients import create_topic
from kafka_learn.labs.connectors import settle
from kafka_lite.connect.json.json_converter import JsonConverter
from kafka_lite.connect.runtime.storage.kafka_based_log import KafkaBasedLog
from kafka_lite.connect.runtime.storage.kafka_config_backing_store import KafkaConfigBackingStore

TASKS = [{"does": "a"}, {"does": "b"}]


@contextmanager
def store(broker, topic):
    """A worker's store."""
    converter = JsonConverter()
    converter.configure({"schemas.enable": "false"}, is_key=False)
    servers = {"bootstrap.servers": broker.bootstrap_servers}
    made = KafkaConfigBackingStore(topic, converter, lambda consumed: KafkaBasedLog(topic, servers, servers, consumed))
    made.start()
    try:
        yield made
    finally:
        made.stop()


def does(configs):
    state = configs.snapshot()
    return [state.task_config(task)["does"] for task in state.tasks("x")]


@pytest.mark.points(5, task=5)
def test_all_workers_come_to_the_same_state(broker):
    """One writes, two read"""
    create_topic(broker, "same", **{"cleanup.policy": "compact"})
    with store(broker, "same") as leader, store(broker, "same") as follower:
        leader.put_connector_config("x", {"name": "x"})
        leader.put_task_configs("x", TASKS)
        assert does(leader) == ["a", "b"], f"the leader has read back what it wrote; it has {does(leader)}"
        follower.refresh(30_000)
        assert follower.snapshot() == leader.snapshot(), "the same records, the same state"
    with store(broker, "same") as late:
        assert does(late) == ["a", "b"], f"a worker that starts later reads everything; it has {does(late)}"


@pytest.mark.points(5, task=5)
def test_a_leader_dies_before_its_commit(broker):
    """One of two configurations is written"""
    create_topic(broker, "dies", **{"cleanup.policy": "compact"})
    with store(broker, "dies") as leader:
        leader.put_connector_config("x", {"name": "x"})
        leader.put_task_configs("x", TASKS)
        leader._log.send(b"task-x-0", b'{"properties":{"does":"c"}}')
        leader.refresh(30_000)
        assert does(leader) == ["a", "b"], f"there is no commit: the old ones count; there are {does(leader)}"
    with store(broker, "dies") as heir:
        assert does(heir) == ["a", "b"], f"for the next leader, too; it has {does(heir)}"
        heir.put_task_configs("x", [{"does": "d"}, {"does": "e"}])
        assert does(heir) == ["d", "e"], f"it writes a complete set; it has {does(heir)}"


@pytest.mark.points(5, task=5)
def test_a_connector_is_paused_and_removed(broker):
    """Target states and tombstones"""
    from kafka_lite.connect.runtime.target_state import TargetState

    create_topic(broker, "gone", **{"cleanup.policy": "compact"})
    with store(broker, "gone") as leader, store(broker, "gone") as other:
        leader.put_connector_config("x", {"name": "x"})
        other.put_target_state("x", TargetState.PAUSED)
        settle(lambda: leader.snapshot().target_state("x") is TargetState.PAUSED, "any worker may pause a connector")
        leader.remove_connector_config("x")
        other.refresh(30_000)
        assert "x" not in other.snapshot(), "the tombstone is for all"
        assert other.snapshot().target_state("x") is None, "and the target state is gone"
