"""Task 4: before partitions go to another member."""

import threading
import time

import pytest

from kafka_lite.mirror.maker.mirror_maker_old_consumer import MirrorMakerOldConsumer
from kafka_lite.mirror.maker.rebalance_listeners import InternalRebalanceListenerForNewConsumer

SOON_S = 0.05
LONG_S = 5


@pytest.mark.points(5, task=4)
def test_revoked(commits, steps, zero, one):
    """Two partitions are revoked"""
    InternalRebalanceListenerForNewConsumer(steps, commits, steps).on_partitions_revoked([zero, one])
    assert steps.done == ["flush", "commit", "forget 2", "tell of 2 revoked"], (
        f"flush and commit, forget the partitions, then tell the user's listener: {steps.done}"
    )


@pytest.mark.points(3, task=4)
def test_lost(commits, steps, zero):
    """A partition that another member has already"""
    InternalRebalanceListenerForNewConsumer(steps, commits, steps).on_partitions_lost([zero])
    assert steps.done == ["forget 1", "tell of 1 lost"], (
        f"a commit of lost partitions would be refused, or set the new owner back: {steps.done}"
    )


class Connector:
    """A connector without ZooKeeper."""

    def set_consumer_rebalance_listener(self, _listener):
        """Nothing rebalances."""

    def create_message_streams_by_filter(self, _filter, _count):
        return [()]

    def shutdown(self):
        """Nothing to leave."""


@pytest.fixture
def old():
    """The mirror's old consumer."""
    return MirrorMakerOldConsumer(Connector(), None)


class Rebalancing(threading.Thread):
    """A thread that rebalances."""

    def __init__(self, consumer):
        super().__init__(daemon=True)
        self.consumer, self.error = consumer, None
        self.start()

    def run(self):
        try:
            self.consumer.request_and_wait_for_commit()
        except Exception as error:  # noqa: BLE001 - the test raises it
            self.error = error

    def has_ended(self, timeout_s=LONG_S):
        """Whether it ends within the timeout. Raises its error."""
        self.join(timeout_s)
        if self.error is not None:
            raise self.error
        return not self.is_alive()


@pytest.mark.points(4, task=4)
def test_it_waits(old):
    """A rebalance, a wait that ends without a reason, and the commit"""
    old.init()
    thread, deadline = Rebalancing(old), time.monotonic() + LONG_S
    while not old.commit_requested and time.monotonic() < deadline:
        assert not thread.has_ended(SOON_S), "nothing has been committed, and the rebalance continues"
    assert old.commit_requested, "the mirror's thread must find the request"
    with old._changed:
        old._changed.notify_all()
    assert not thread.has_ended(SOON_S), "nothing has been committed: a wait may end without a reason, so check again"
    old.notify_commit()
    assert thread.has_ended(), "the mirror has committed: the rebalance continues"


@pytest.mark.points(3, task=4)
def test_nobody_would_answer(old):
    """Before init, and after the mirror's thread has ended"""
    assert Rebalancing(old).has_ended(), "before init nothing was received, and no thread would answer: do not wait"
    old.init()
    old.cleanup()
    assert Rebalancing(old).has_ended(), "the mirror's thread has ended: do not wait for it"
