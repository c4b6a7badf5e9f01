import pytest

from kafka_lite.cluster.broker import Broker
from kafka_lite.cluster.end_point import EndPoint, EndPointError
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.security_protocol import SecurityProtocol
from kafka_lite.zookeeper.data import BrokerRegistration
from kafka_lite.zookeeper.znode_json import ZnodeDataError

INTERNAL = EndPoint("h", 1, "INTERNAL", SecurityProtocol.SSL)
PLAINTEXT = EndPoint("h", 2, "PLAINTEXT", SecurityProtocol.PLAINTEXT)


def test_a_registration_is_written_and_read():
    broker = Broker(1, (INTERNAL, PLAINTEXT), "r1")
    registration = broker.to_registration(timestamp_ms=5)
    assert registration.endpoints == ("INTERNAL://h:1", "PLAINTEXT://h:2")
    assert registration.listener_security_protocol_map == {"INTERNAL": "SSL", "PLAINTEXT": "PLAINTEXT"}
    assert (registration.host, registration.port) == ("h", 2)
    assert Broker.from_registration(1, BrokerRegistration.decode(registration.encode())) == broker


def test_without_a_plaintext_listener_there_is_no_host():
    registration = Broker(1, (INTERNAL,)).to_registration()
    assert (registration.host, registration.port) == (None, -1)


def test_registrations_without_a_protocol_map_are_read():
    broker = Broker.from_registration(1, BrokerRegistration(("SSL://h:1",)))
    assert broker.get_end_point("SSL").security_protocol is SecurityProtocol.SSL
    assert broker.get_end_point("PLAINTEXT") is None
    with pytest.raises(ApiError) as caught:
        broker.get_broker_end_point("PLAINTEXT")
    assert caught.value.error is Errors.BROKER_NOT_AVAILABLE


@pytest.mark.parametrize("registration", [BrokerRegistration(("nonsense",)), BrokerRegistration((), {"A": "B"})])
def test_malformed_registrations_are_rejected(registration):
    with pytest.raises(ZnodeDataError, match="/brokers/ids/1"):
        Broker.from_registration(1, registration)


@pytest.mark.parametrize(
    "uri", ["h:1", "A://h", "PLAINTEXT://h:x", "PLAINTEXT://h:-1", "PLAINTEXT://h:65536", "A://h:1"]
)
def test_malformed_end_points_are_rejected(uri):
    with pytest.raises(EndPointError):
        EndPoint.parse(uri)
