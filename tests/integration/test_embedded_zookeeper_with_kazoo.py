"""What brokers use ZooKeeper for, with kazoo on the embedded one, across its restarts."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from kazoo.client import KazooClient
from kazoo.exceptions import BadVersionError, NodeExistsError, NoNodeError, RolledBackError, RuntimeInconsistency
from kazoo.protocol.states import KazooState

from kafka_lite.server.broker_process import free_port
from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper
from kafka_lite.zookeeper.embedded.protocol import OPEN_ACL_UNSAFE, CreateMode, CreateRequest, OpCode
from tests.support.zookeeper_raw_client import RawClient

WAIT_S = 60
Connect = Callable[..., KazooClient]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EmbeddedZooKeeper]:
    with EmbeddedZooKeeper(tmp_path, port=free_port(), tick_time_ms=250) as server:
        yield server


@pytest.fixture
def connect(server: EmbeddedZooKeeper) -> Iterator[Connect]:
    clients: list[KazooClient] = []

    def connect(timeout: float = 5.0) -> KazooClient:
        client = KazooClient(server.connect_string, timeout=timeout)
        client.start()
        clients.append(client)
        return client

    yield connect
    for client in clients:
        client.stop()
        client.close()


def restart(server: EmbeddedZooKeeper) -> None:
    server.shutdown()
    server.start()


def test_the_controller_fails_over_when_its_session_expires(server: EmbeddedZooKeeper, connect: Connect) -> None:
    first, second = RawClient(server.connect_string, timeout_ms=3000), connect()
    first.call(OpCode.CREATE, CreateRequest("/controller", b"1", OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL))
    with pytest.raises(NodeExistsError):
        second.create("/controller", b"2", ephemeral=True)
    elected = threading.Event()

    def elect(event: object) -> None:
        second.create_async("/controller", b"2", ephemeral=True).rawlink(lambda _: elected.set())

    assert second.get("/controller", watch=elect)[0] == b"1"
    # As in a crash: the session is not closed.
    first.disconnect()
    assert elected.wait(WAIT_S)
    assert second.get("/controller")[0] == b"2"


def test_a_lock_has_one_holder(connect: Connect) -> None:
    clients = [connect() for _ in range(3)]
    inside = threading.Semaphore(1)
    turns: list[int] = []

    def work(number: int) -> None:
        for _ in range(5):
            with clients[number].Lock("/lock", str(number)):
                assert inside.acquire(blocking=False), "two holders"
                turns.append(number)
                inside.release()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_S)
    assert sorted(turns) == [0] * 5 + [1] * 5 + [2] * 5


def test_watches_survive_a_restart_of_the_server(server: EmbeddedZooKeeper, connect: Connect) -> None:
    watching, writing = connect(), connect()
    writing.create("/brokers")
    writing.create("/epoch", b"0")
    children: queue.Queue[list[str]] = queue.Queue()
    values: queue.Queue[bytes | None] = queue.Queue()
    watching.ChildrenWatch("/brokers", children.put)
    watching.DataWatch("/epoch", lambda data, stat: values.put(data))
    assert (children.get(timeout=WAIT_S), values.get(timeout=WAIT_S)) == ([], b"0")
    for number in range(1, 4):
        writing.create(f"/brokers/{number}", ephemeral=True)
        assert len(children.get(timeout=WAIT_S)) == number
        writing.set("/epoch", str(number).encode())
        assert values.get(timeout=WAIT_S) == str(number).encode()
        restart(server)
        writing.retry(writing.exists, "/epoch")
        watching.retry(watching.exists, "/epoch")
    # Both sessions survived, with their ephemeral znodes.
    assert sorted(watching.retry(watching.get_children, "/brokers")) == ["1", "2", "3"]


def test_a_client_that_reconnects_keeps_its_session(server: EmbeddedZooKeeper, connect: Connect) -> None:
    client = connect()
    states: queue.Queue[KazooState] = queue.Queue()
    client.add_listener(states.put)
    client.create("/e", ephemeral=True)
    session = client.client_id
    restart(server)
    assert [states.get(timeout=WAIT_S) for _ in range(2)] == [KazooState.SUSPENDED, KazooState.CONNECTED]
    assert client.client_id == session
    assert client.exists("/e").ephemeralOwner == session[0]


def test_a_transaction_is_all_or_nothing(connect: Connect) -> None:
    client = connect()
    client.create("/state", b"1")
    failing = client.transaction()
    failing.set_data("/state", b"2")
    failing.check("/state", version=0)
    failing.create("/never")
    rolled_back, refused, behind = failing.commit()
    assert isinstance(rolled_back, RolledBackError)
    assert isinstance(refused, BadVersionError)
    assert isinstance(behind, RuntimeInconsistency)
    assert client.get("/state")[0] == b"1"
    working = client.transaction()
    working.check("/state", version=0)
    working.set_data("/state", b"2", version=0)
    working.create("/config_change_", sequence=True)
    assert working.commit()[2] == "/config_change_0000000001"
    with pytest.raises(NoNodeError):
        client.get("/never")


def test_an_isr_change_is_conditional_on_the_version(connect: Connect) -> None:
    leader, controller = connect(), connect()
    leader.create("/topics/t/0/state", b'{"isr":[1,2]}', makepath=True)
    version = controller.set("/topics/t/0/state", b'{"isr":[2]}', version=0).version
    with pytest.raises(BadVersionError):
        leader.set("/topics/t/0/state", b'{"isr":[1]}', version=0)
    assert leader.set("/topics/t/0/state", b'{"isr":[2,1]}', version=version).version == 2
