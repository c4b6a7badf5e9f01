"""Helpers that the tests of this lab share."""

import pytest

from kafka_learn.labs.coordinators import LabCoordinator
from kafka_lite.coordinator.transaction.transaction_metadata import (
    IllegalTransitionError,
    TransactionMetadata,
    TxnTransitMetadata,
    new_transactional_id,
)


@pytest.fixture(scope="session")
def broker_settings():
    """One broker has one replica; transactions that have timed out are looked for every 100 ms.

    A new cluster of this protocol has the first version of transactions, which the lab is about.
    """
    return {
        "inter.broker.protocol.version": "2.8",
        "log.message.format.version": "2.8",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "transaction.state.log.num.partitions": "1",
        "transaction.abort.timed.out.transaction.cleanup.interval.ms": "100",
    }


@pytest.fixture
def an_id():
    """``an_id(state, …)``: an id in a state. Its transaction began at 5000 ms, with a timeout of 60 s."""

    def make(state, **changes):
        fields = vars(new_transactional_id(7, 60_000, 5_000))
        fields = {**fields, "producer_epoch": 3, "state": state, "start_timestamp_ms": 5_000, **changes}
        return TransactionMetadata("transfers", TxnTransitMetadata(**fields))

    return make


@pytest.fixture
def coordinator(tmp_path):
    """A coordinator without a broker."""
    return LabCoordinator(tmp_path)


@pytest.fixture
def refuses():
    """``refuses(function, transit)``: whether it raises IllegalTransitionError."""

    def raised(function, transit):
        try:
            function(transit)
        except IllegalTransitionError:
            return True
        return False

    return raised
