"""The part of a broker that is the same wherever it runs: its restart, its pause, its address and its complaint."""

from __future__ import annotations

import pytest

from kafka_lite.testing.any_broker import AnyBroker
from tests.support.noted_broker import NotedBroker


def test_a_restart_is_a_clean_stop_and_a_start() -> None:
    broker = NotedBroker(3)
    broker.restart()
    assert broker.done == ["stop", "start"]


def test_a_broker_that_is_down_is_not_restarted_but_says_how_to_start_it() -> None:
    broker = NotedBroker(3)
    broker.check_running()
    broker.running = False
    with pytest.raises(RuntimeError, match=r"broker 3 .* not running: .* cluster\.brokers\[3\]\.start\(\)"):
        broker.restart()
    with pytest.raises(RuntimeError, match="broker 3 of this cluster"):
        broker.check_running()
    assert broker.done == []


def test_a_pause_ends_with_its_block_even_by_an_exception() -> None:
    broker = NotedBroker(3)
    with broker.paused():
        assert broker.done == ["pause"]
    assert broker.done == ["pause", "resume"]
    with pytest.raises(ZeroDivisionError), broker.paused():
        raise ZeroDivisionError
    assert broker.done == ["pause", "resume"] * 2


def test_a_broker_has_an_address_for_clients_and_a_name_for_messages() -> None:
    broker = NotedBroker(3, 19092)
    assert (broker.bootstrap_server, str(broker)) == ("127.0.0.1:19092", "broker 3")


@pytest.mark.parametrize("verb", sorted(AnyBroker.__abstractmethods__))
def test_a_broker_needs_every_verb_of_its_life_and_its_knowledge(verb: str) -> None:
    others = {name: getattr(NotedBroker, name) for name in AnyBroker.__abstractmethods__ if name != verb}
    with pytest.raises(TypeError, match=verb):
        type("Incomplete", (AnyBroker,), others)()
