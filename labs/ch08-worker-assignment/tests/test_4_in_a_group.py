"""Task 4: members join a group on a broker."""

import threading
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace

import pytest

from kafka_learn.labs.connectors import JSON, STRING, settle
from kafka_learn.labs.groups import GROUP_BROKER
from kafka_lite.connect.runtime.distributed.distributed_config import DistributedConfig
from kafka_lite.connect.runtime.distributed.worker_group_member import WorkerGroupMember

PROPS = {
    "key.converter": STRING, "value.converter": STRING,
    "internal.key.converter": JSON, "internal.value.converter": JSON,
    "config.storage.topic": "c", "offset.storage.topic": "o", "status.storage.topic": "s",
}  # fmt: skip


@pytest.fixture(scope="session")
def broker_settings():
    """Groups start without delay."""
    return GROUP_BROKER


class Member:
    """A worker without connectors: it joins the group, and notes what it is assigned."""

    def __init__(self, broker, group, url, configs):
        self.assignment = None
        config = DistributedConfig({**PROPS, "bootstrap.servers": broker.bootstrap_servers, "group.id": group})
        store = SimpleNamespace(snapshot=lambda: configs)
        self.member = WorkerGroupMember(config, url, store, self)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        while not self._stopping.is_set():
            self.member.poll(50)

    def on_assigned(self, assignment, generation):  # noqa: ARG002
        self.assignment = assignment

    def on_revoked(self, assignment):  # noqa: ARG002
        self.assignment = None

    def stop(self):
        self._stopping.set()
        self._thread.join(30)
        self.member.stop()


@contextmanager
def joined(broker, group, *snapshots):
    """A member for each snapshot."""
    with ExitStack() as stack:
        made = []
        for number, configs in enumerate(snapshots):
            made.append(Member(broker, group, f"http://w{number}:8083/", configs))
            stack.callback(made[-1].stop)
        yield made


def work(found):
    assigned = [each.assignment for each in found]
    if any(each is None for each in assigned):
        return None
    return sorted(text for each in assigned for text in [*each.connectors, *map(str, each.tasks)])


@pytest.mark.points(5, task=4)
def test_a_worker_alone(broker, configs):
    """It leads, and gets everything"""
    with joined(broker, "alone", configs(sink=2)) as found:
        settle(lambda: work(found) == ["sink", "sink-0", "sink-1"], "the only worker gets the sink and its two tasks")
        assert found[0].assignment.leader_url == "http://w0:8083/", "and leads"


@pytest.mark.points(5, task=4)
def test_three_workers(broker, configs):
    """Each thing once, evenly"""
    group = configs(sink=2, source=1, third=3)
    wanted = sorted(["sink", "source", "third", "sink-0", "sink-1", "source-0", "third-0", "third-1", "third-2"])
    with joined(broker, "three", group, group, group) as found:
        settle(lambda: work(found) == wanted, "each connector and task at one worker")
        counts = [len(each.assignment.connectors) + len(each.assignment.tasks) for each in found]
        assert counts == [3, 3, 3], f"nine things, three workers: three each; yours: {counts}"


@pytest.mark.points(5, task=4)
def test_one_has_read_less(broker, configs):
    """It is assigned work for the newer offset, or, if it leads, nobody is"""
    with joined(broker, "less", configs(sink=2), configs(sink=2, offset=9)) as found:
        settle(
            lambda: all(each.assignment is not None for each in found), "both are assigned something, if only an error"
        )
        errors, leaders = ({getattr(each.assignment, what) for each in found} for what in ("error", "leader_url"))
        old_leads = leaders == {"http://w0:8083/"}
        assert errors == {1 if old_leads else 0}, (
            f"an error if the worker that is behind leads, else none; yours: {errors}"
        )
        assert {each.assignment.offset for each in found} == {9}, "all have to read up to 9"
