"""Task 5: decided transactions get their markers, whatever happens."""

import sys

import pytest

from kafka_learn.labs.coordinators import A0, A1
from kafka_lite.coordinator.transaction.transaction_marker_channel_manager import TransactionMarkerChannelManager
from kafka_lite.coordinator.transaction.transaction_metadata import TransactionMetadata


def begun(coordinator):
    producer = coordinator.init().producer
    coordinator.add(producer, A0)
    coordinator.add(producer, A1)
    return producer


def written(coordinator):
    return " ".join(f"{each.partition}:{'commit' if each.commit else 'abort'}" for each in coordinator.markers)


@pytest.mark.points(4, task=5)
def test_the_records_of_a_transaction(coordinator):
    """A commit, then an abort"""
    producer = begun(coordinator)
    coordinator.end(producer, commit=True)
    assert written(coordinator) == "a-0:commit a-1:commit", (
        f"each partition of the transaction gets a marker that commits; yours: {written(coordinator) or 'none'}"
    )
    coordinator.add(producer, A0)
    coordinator.end(producer, commit=False)
    assert written(coordinator) == "a-0:commit a-1:commit a-0:abort", (
        f"the second transaction has only a-0, and is aborted; yours: {written(coordinator)}"
    )
    states = " ".join(coordinator.state_log.states())
    wanted = "Empty Ongoing Ongoing PrepareCommit CompleteCommit Ongoing PrepareAbort CompleteAbort"
    assert states == wanted, f"__transaction_state: {wanted}; yours: {states}"


@pytest.mark.points(4, task=5)
def test_the_next_coordinator_finishes(coordinator):
    """The coordinator dies after the decision, before a marker is written"""
    producer = begun(coordinator)
    coordinator.is_holding_markers = True
    coordinator.end(producer, commit=True)
    found = coordinator.add(producer, A0)
    assert found == "CONCURRENT_TRANSACTIONS", f"markers are being written, so the next transaction must wait; {found}"
    assert coordinator.state == "PrepareCommit", f"no marker is written: PrepareCommit, not {coordinator.state}"
    heir = coordinator.restart()
    assert written(heir) == "a-0:commit a-1:commit", (
        f"the next coordinator finds PrepareCommit in the log, and writes both markers, not {written(heir) or 'none'}"
    )
    assert heir.state == "CompleteCommit", f"all markers are written: CompleteCommit, not {heir.state}"
    assert heir.end(producer, commit=True) == "NONE", "the producer, which got no response, repeats its commit"


@pytest.mark.points(2, task=5)
def test_the_lock_is_held_for_the_state_and_not_for_the_markers(coordinator, monkeypatch):
    """metadata.lock"""
    held, looks, state = {}, [], TransactionMetadata.state
    prepare_complete, add = TransactionMetadata.prepare_complete, TransactionMarkerChannelManager.add

    def prepare(self, *arguments):
        held["state"] = self.lock._is_owned()
        return prepare_complete(self, *arguments)

    def state_of(self):
        if sys._getframe(1).f_code.co_name == "complete":
            looks.append(self.lock._is_owned())
        return state.fget(self)

    def add_markers(self, completion, partitions):
        held["markers"] = completion.metadata.lock._is_owned()
        return add(self, completion, partitions)

    monkeypatch.setattr(TransactionMetadata, "prepare_complete", prepare)
    monkeypatch.setattr(TransactionMetadata, "state", property(state_of))
    monkeypatch.setattr(TransactionMarkerChannelManager, "add", add_markers)
    coordinator.end(begun(coordinator), commit=True)
    assert [*looks, held.get("state")] == [True] * (len(looks) + 1), (
        "another request may change the state while it is read: hold metadata.lock meanwhile"
    )
    assert not held["markers"], (
        "markers are sent to other brokers: without metadata.lock, or all requests of the id wait"
    )
