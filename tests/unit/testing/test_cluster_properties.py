"""The configuration of test brokers: addresses through the network, and what each machine listens on."""

from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.testing.cluster_properties import (
    MAX_REPLICAS,
    SEVERAL_DEFAULTS,
    TEST_DEFAULTS,
    listener_of,
    network_properties,
    several_defaults,
    target_ports,
)
from kafka_lite.testing.network.cluster_network import CLIENTS, ZOOKEEPER


class Network:
    """The addresses of a network that nobody has started."""

    def __init__(self, has_clients=False):
        self.has_clients = has_clients

    def address(self, sender, receiver):
        return f"{sender}-to-{receiver}:1"


def listeners(text):
    return dict(entry.split("://") for entry in text.split(","))


def test_a_broker_takes_the_defaults_and_a_clock_that_jumps_closes_no_connection():
    for defaults in (TEST_DEFAULTS, several_defaults(3)):
        config = KafkaConfig(defaults).values
        assert config["connections.max.idle.ms"] == -1
        assert config["group.initial.rebalance.delay.ms"] == 0


def test_topics_have_a_replica_on_each_broker_of_a_small_cluster_and_three_in_a_large_one():
    for brokers, replicas in ((2, "2"), (3, "3"), (5, str(MAX_REPLICAS))):
        defaults = several_defaults(brokers)
        assert defaults["default.replication.factor"] == defaults["offsets.topic.replication.factor"] == replicas
        assert defaults["num.io.threads"] == SEVERAL_DEFAULTS["num.io.threads"], "fewer than one broker alone has"


def test_a_broker_has_a_listener_for_clients_and_one_for_each_broker():
    properties = network_properties(1, 9000, [9001, 9002, 9003], Network())
    bound = listeners(properties["listeners"])
    assert bound == {
        "PLAINTEXT": "127.0.0.1:9000",
        "FROM_0": "127.0.0.1:9001",
        "FROM_1": "127.0.0.1:9002",
        "FROM_2": "127.0.0.1:9003",
    }
    assert properties["inter.broker.listener.name"] == "FROM_1" == listener_of(1)
    assert properties["broker.id"] == "1"


def test_other_brokers_and_zookeeper_are_reached_through_the_network_and_clients_are_not():
    properties = network_properties(1, 9000, [9001, 9002, 9003], Network())
    advertised = listeners(properties["advertised.listeners"])
    assert (advertised["FROM_0"], advertised["FROM_2"]) == ("0-to-1:1", "2-to-1:1")
    assert advertised["FROM_1"] == "127.0.0.1:9002", "its own way to itself cannot be cut"
    assert advertised["PLAINTEXT"] == "127.0.0.1:9000"
    assert properties["zookeeper.connect"] == f"1-to-{ZOOKEEPER}:1"


def test_clients_go_through_a_network_that_has_them():
    properties = network_properties(0, 9000, [9001], Network(has_clients=True))
    assert listeners(properties["advertised.listeners"])["PLAINTEXT"] == f"{CLIENTS}-to-0:1"
    assert listeners(properties["listeners"])["PLAINTEXT"] == "127.0.0.1:9000"


def test_a_broker_can_read_them():
    config = KafkaConfig(TEST_DEFAULTS | network_properties(0, 9000, [9001, 9002], Network()))
    assert config.inter_broker_listener_name == "FROM_0"
    assert {each.listener_name: each.port for each in config.advertised_listeners} == {
        "PLAINTEXT": 9000,
        "FROM_0": 9001,
        "FROM_1": 1,
    }


def test_each_machine_listens_for_each_other_one():
    ports = target_ports([[1, 2, 3], [11, 12, 13], [21, 22, 23]], 2181)
    assert {pair: port for pair, port in ports.items() if ZOOKEEPER not in pair} == {
        (1, 0): 2, (2, 0): 3, (0, 1): 11, (2, 1): 13, (0, 2): 21, (1, 2): 22,
    }  # fmt: skip
    assert [ports[broker, ZOOKEEPER] for broker in range(3)] == [2181] * 3
    assert len(ports) == 9
