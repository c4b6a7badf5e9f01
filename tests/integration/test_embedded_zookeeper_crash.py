"""The embedded ZooKeeper, killed at arbitrary moments: acknowledged writes survive."""

from __future__ import annotations

import contextlib
import itertools
import random
import threading
import time
from pathlib import Path

import pytest

from kafka_lite.zookeeper.embedded.protocol import (
    MULTI_END,
    OPEN_ACL_UNSAFE,
    CreateMode,
    CreateRequest,
    GetDataResponse,
    MultiHeader,
    OpCode,
    PathResponse,
    PathsResponse,
    PathWatchRequest,
    SetDataRequest,
)
from tests.support.embedded_zookeeper_process import EmbeddedZooKeeperProcess
from tests.support.eventually import eventually
from tests.support.zookeeper_raw_client import RawClient

LIVES = 12
NO_NODE = -101


class Writer(threading.Thread):
    """Writes until its server is killed, and remembers what was acknowledged."""

    def __init__(self, connect_string: str, number: int, first: int) -> None:
        super().__init__()
        self._client = RawClient(connect_string)
        self._number = number
        self._first = first
        self.sequential: list[str] = []
        self.last_set = -1
        self.last_multi = -1

    def run(self) -> None:
        with contextlib.suppress(OSError), self._client:
            for i in itertools.count(self._first):
                self._write(i)

    def _write(self, i: int) -> None:
        create = CreateRequest("/seq/n-", b"", OPEN_ACL_UNSAFE, CreateMode.PERSISTENT_SEQUENTIAL)
        self.sequential.append(self._client.call(OpCode.CREATE, create).read(PathResponse).path)
        value = str(i).encode()
        assert self._client.call(OpCode.SET_DATA, SetDataRequest(f"/set-{self._number}", value, -1)).err == 0
        self.last_set = i
        header = MultiHeader(OpCode.SET_DATA, False, -1)
        pair = [SetDataRequest(f"/{side}-{self._number}", value, -1) for side in ("left", "right")]
        assert self._client.call(OpCode.MULTI, header, pair[0], header, pair[1], MULTI_END).err == 0
        self.last_multi = i


def data(client: RawClient, path: str) -> int:
    return int(client.call(OpCode.GET_DATA, PathWatchRequest(path, False)).read(GetDataResponse).data or b"-1")


@pytest.mark.slow
def test_acknowledged_writes_survive_every_kill(tmp_path: Path) -> None:
    source = random.Random(7)
    # Snapshots and purges run all the time, so that kills interrupt them, too.
    server = EmbeddedZooKeeperProcess(tmp_path, snap_count=60, tick_time_ms=300)
    server.start()
    with RawClient(server.connect_string) as client:
        for path in ("/seq", *(f"/{kind}-{n}" for kind in ("set", "left", "right") for n in range(2))):
            client.call(OpCode.CREATE, CreateRequest(path, b"-1", OPEN_ACL_UNSAFE, 0))
    acknowledged: list[str] = []
    first = 0
    for _ in range(LIVES):
        writers = [Writer(server.connect_string, number, first) for number in range(2)]
        for writer in writers:
            writer.start()
        time.sleep(source.uniform(0.01, 0.3))
        server.kill()
        for writer in writers:
            writer.join()
        server.start()
        with RawClient(server.connect_string) as client:
            there = set(client.call(OpCode.GET_CHILDREN, PathWatchRequest("/seq", False)).read(PathsResponse).paths)
            for number, writer in enumerate(writers):
                acknowledged += writer.sequential
                # An unacknowledged write may be there, too: the one in flight.
                assert data(client, f"/set-{number}") in (writer.last_set, writer.last_set + 1) or writer.last_set < 0
                left, right = data(client, f"/left-{number}"), data(client, f"/right-{number}")
                assert left == right
                assert left in (writer.last_multi, writer.last_multi + 1) or writer.last_multi < 0
            assert there >= {path.rpartition("/")[2] for path in acknowledged}
        assert len(set(acknowledged)) == len(acknowledged), "a sequential name was assigned twice"
        first = max(writer.last_set for writer in writers) + 2
    assert acknowledged
    server.kill()


def test_sessions_after_a_kill(tmp_path: Path) -> None:
    with EmbeddedZooKeeperProcess(tmp_path, tick_time_ms=300) as server:
        back, gone = (RawClient(server.connect_string, timeout_ms=4000) for _ in range(2))
        for client, path in ((back, "/back"), (gone, "/gone")):
            client.call(OpCode.CREATE, CreateRequest(path, b"", OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL))
            client.disconnect()
        server.kill()
        server.start()
        with RawClient(server.connect_string, 4000, (back.session_id, back.password)) as client:
            assert client.session_id == back.session_id

            def is_gone() -> bool:
                return client.call(OpCode.EXISTS, PathWatchRequest("/gone", False)).err == NO_NODE

            assert not is_gone()
            eventually(is_gone)
            assert client.call(OpCode.EXISTS, PathWatchRequest("/back", False)).err == 0


def test_sigterm_stops_it_promptly_and_cleanly(tmp_path: Path) -> None:
    server = EmbeddedZooKeeperProcess(tmp_path)
    server.start()
    with RawClient(server.connect_string):
        assert server.terminate() == 0
