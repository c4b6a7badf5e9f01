"""Helpers that the tests of this lab share."""

import pytest

from kafka_learn.labs.groups import GROUP_BROKER
from kafka_lite.clients.request_future import RequestFuture


@pytest.fixture(scope="session")
def broker_settings():
    """Groups start without delay."""
    return GROUP_BROKER


@pytest.fixture
def outcome_of():
    """``outcome_of(future)``: ``pending``, ``value 5``, or ``ValueError: text``."""

    def of(future):
        if not future.is_done:
            return "pending"
        if future.failed:
            return f"{type(future.exception).__name__}: {future.exception}"
        return f"value {future.value}"

    return of


@pytest.fixture
def pending():
    """A future without an outcome."""
    return RequestFuture()


@pytest.fixture
def heard():
    """``heard(future)``: a list of the calls to a listener of the future from now on."""

    def listen(future):
        told = []
        future.add_listener(lambda value: told.append(value), lambda error: told.append(str(error)))
        return told

    return listen
