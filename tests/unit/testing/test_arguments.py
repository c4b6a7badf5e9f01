"""Wrong arguments of a cluster's methods: each is refused where it is given, with what to say instead."""

from collections.abc import Callable
from typing import Any

import pytest

from kafka_lite.testing.arguments import id_of
from kafka_lite.testing.cluster import Cluster

Call = Callable[[Any], object]


@pytest.fixture(scope="module")
def cluster():
    with Cluster(brokers=2) as running:
        running.create_topic("orders")
        yield running


WRONG: list[tuple[Call, type[Exception], str]] = [
    (lambda c: c.create_topic("t", {"retention.ms": 1}), TypeError, r"partitions must be a whole number.*configs=\{"),
    (lambda c: c.create_topic("t", "3"), TypeError, "partitions must be a whole number, not '3'"),
    (lambda c: c.create_topic("t", configs=["retention.ms"]), TypeError, "configs must be a dictionary"),
    (lambda c: c.create_topic(b"t"), TypeError, "a topic must be a string, not b't'"),
    (lambda c: c.create_topic("t", replication_factor="2"), TypeError, "replication_factor must be a whole number"),
    (lambda c: c.produce("orders"), ValueError, "of which values"),
    (lambda c: c.produce("orders", "v", partition="0"), TypeError, "partition must be a whole number"),
    (lambda c: c.produce("orders", "v", acks="all"), ValueError, "-1 for the whole ISR"),
    (lambda c: c.produce("orders", "v", acks=0), ValueError, "1 waits for the leader"),
    (lambda c: c.produce("orders", "v", timestamp_ms=1.5), TypeError, "timestamp_ms must be a whole number"),
    (lambda c: c.leader_of("nope"), ValueError, r"nope-0: the topic does not exist; create_topic\('nope'\) makes it"),
    (lambda c: c.leader_of("orders", other_than=7), ValueError, "no broker 7 in this cluster: broker 0, broker 1"),
    (lambda c: c.wait_for_isr("orders", brokers=[7]), ValueError, "no broker 7 in this cluster"),
    (lambda c: c.wait_for_isr("orders", brokers=0), TypeError, r"brokers=\[0\]"),
    (
        lambda c: c.move_leadership("0", "orders"),
        TypeError,
        r"must be cluster\.brokers\[0\], for example, or its id",
    ),
    (lambda c: c.wait_for_records("nope", timeout_s=0.01), TimeoutError, "there is no topic 'nope'"),
    (lambda c: c.inject(3), TypeError, "an API must be 'Produce', for example"),
    (lambda c: c.inject("Produce").delay("5"), TypeError, "a delay must be a number, not '5'"),
    (lambda c: c.inject("Produce").drop_request().times("2"), TypeError, r"a whole number, not '2': times\(2\)"),
    (lambda c: c.inject("Produce").slow_response("10"), TypeError, "a rate must be a number"),
    (lambda c: c.inject("Fetch").for_topic(["orders"]), TypeError, r"a topic must be a string.*for_topic\('orders'\)"),
    (lambda c: c.inject("Fetch").when("acks == 1"), TypeError, "a condition must be a function"),
    (lambda c: c.inject("Fetch").from_broker("broker 1"), TypeError, "or its id, not 'broker 1'"),
    (lambda c: c.inject("Fetch").from_client(7), TypeError, r"a client\.id must be a string"),
    (lambda c: c.inject("Fetch").drop_request().wait(), ValueError, "not in force"),
    (lambda c: c.requests.wait_for("Produce", lambda seen: True), TypeError, "count must be a whole number.*where="),
    (lambda c: c.requests.of("Produce", "shop"), TypeError, "where must be a function"),
    (lambda c: c.network.slow(0, 1), ValueError, "by how much"),
    (lambda _: Cluster(3), TypeError, r"overrides must be a dictionary.*brokers=3"),
    (lambda _: Cluster(brokers="3"), TypeError, "brokers must be a whole number"),
    (lambda _: Cluster(brokers=2, broker_overrides={7: {}}), ValueError, "no broker 7; the last one is 1"),
    (lambda _: Cluster(broker_overrides={"broker.rack": "a"}), TypeError, "a broker's id must be a whole number"),
    (lambda _: Cluster(broker_overrides={0: "a"}), TypeError, "overrides of broker 0 must be a dictionary"),
]


@pytest.mark.parametrize(("call", "kind", "text"), WRONG, ids=range(len(WRONG)))
def test_a_wrong_argument_is_refused_with_what_to_say(cluster, call, kind, text):
    try:
        with pytest.raises(kind, match=text):
            call(cluster)
    finally:
        cluster.reset()


def test_a_broker_may_be_given_by_its_id(cluster):
    leader = cluster.leader_of("orders")
    (other,) = [broker for broker in cluster.brokers if broker is not leader]
    cluster.wait_for_isr("orders", brokers=[leader.id, other])
    cluster.move_leadership(other.id, "orders")
    assert cluster.leader_of("orders", other_than=leader.id) is other
    assert cluster.inject("Fetch").from_broker(other).drop_request().once().count == 0
    cluster.reset()


def test_an_id_is_a_number_or_that_of_a_broker(cluster):
    assert (id_of(3), id_of(cluster.brokers[1])) == (3, 1)
    with pytest.raises(TypeError, match="not True"):
        id_of(True)
