"""Producer ids are unique across brokers, and no request waits for ZooKeeper."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from kafka_lite.common.errors import ApiError, Errors, KafkaError
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.coordinator.transaction.producer_id_manager import ProducerIdManager
from kafka_lite.protocol.messages.api_22_init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.protocol.schema import Response
from kafka_lite.server.apis.producer_id_apis import ProducerIdApis
from kafka_lite.zookeeper.data import ProducerIdsBlock
from kafka_lite.zookeeper.znode_json import ZnodeDataError
from tests.support.transactions import Transactions


class Blocks:
    """The znode, with a version."""

    def __init__(self) -> None:
        self.data: bytes | None = None
        self.version = 0
        self.lost_races = 0

    def get_producer_id_block(self) -> tuple[ProducerIdsBlock, int] | None:
        return None if self.data is None else (ProducerIdsBlock.decode(self.data), self.version)

    def create_producer_id_block(self, block: ProducerIdsBlock) -> bool:
        return self.data is None and self._write(block)

    def set_producer_id_block(self, block: ProducerIdsBlock, expected_version: int) -> bool:
        return self.version == expected_version and self._write(block)

    def _write(self, block: ProducerIdsBlock) -> bool:
        if self.lost_races:  # another broker was faster
            self.lost_races -= 1
            start = self.get_producer_id_block()
            first = start[0].last_producer_id + 1 if start else 0
            self.data = ProducerIdsBlock(99, first, first + 999).encode()
            self.version += 1
            return False
        self.data = block.encode()
        self.version += 1
        return True


def manager(blocks: Blocks, time: MockTime | None = None, broker_id: int = 0) -> ProducerIdManager:
    made = ProducerIdManager(broker_id, blocks, MockScheduler(time or MockTime()))
    made.startup()
    return made


def test_the_first_block_begins_with_0_even_if_kafka_has_created_an_empty_znode() -> None:
    class EmptyZnode(Blocks):
        def get_producer_id_block(self) -> tuple[ProducerIdsBlock, int]:
            return ProducerIdsBlock.decode(self.data), self.version

    blocks = EmptyZnode()
    assert manager(blocks).generate_producer_id() == 0
    assert ProducerIdsBlock.decode(blocks.data) == ProducerIdsBlock(0, 0, 999)


def test_ids_are_consecutive_across_blocks() -> None:
    blocks, time = Blocks(), MockTime()
    ids = manager(blocks, time)
    assert json.loads(blocks.data or b"") == {"version": 1, "broker": 0, "block_start": "0", "block_end": "999"}
    found = []
    for _ in range(2500):
        found.append(ids.generate_producer_id())
        time.sleep(1)
    assert found == list(range(2500))
    assert blocks.version == 3


def test_no_two_brokers_hand_out_the_same_id() -> None:
    blocks, time = Blocks(), MockTime()
    managers = [manager(blocks, time, broker_id) for broker_id in range(3)]
    found = []
    for _ in range(1500):
        found += [each.generate_producer_id() for each in managers]
        time.sleep(1)
    assert len(set(found)) == 4500


@pytest.mark.parametrize("races", [1, 3])
def test_allocation_is_retried_after_another_broker_was_first(races: int) -> None:
    blocks = Blocks()
    blocks.lost_races = races
    assert manager(blocks).generate_producer_id() == races * 1000


def test_without_zookeeper_requests_fail_instead_of_blocking() -> None:
    blocks, time = Blocks(), MockTime()
    ids = manager(blocks, time)
    for _ in range(1000):  # the fetch is due, but has no chance to run
        ids.generate_producer_id()
    with pytest.raises(ApiError) as info:
        ids.generate_producer_id()
    assert info.value.error is Errors.COORDINATOR_LOAD_IN_PROGRESS
    assert info.value.error.retriable
    time.sleep(1)
    assert ids.generate_producer_id() == 1000


def test_ids_can_run_out() -> None:
    blocks = Blocks()
    blocks.data = ProducerIdsBlock(0, 2**63 - 1000, 2**63 - 1).encode()
    with pytest.raises(KafkaError, match="used up"):
        manager(blocks)


@pytest.mark.parametrize("data", [b"", b"{}", b'{"broker":0,"block_start":"x","block_end":"9"}', b'{"block_start":1}'])
def test_a_malformed_block_is_rejected(data: bytes) -> None:
    with pytest.raises(ZnodeDataError):
        ProducerIdsBlock.decode(data)


# -- the handler ---------------------------------------------------------------------------------------------------


def answer(**fields: object) -> tuple[Errors, int, int]:
    given: list[Response | None] = []
    body = InitProducerIdRequest(**{"transactional_id": None, "transaction_timeout_ms": 60_000, **fields})  # type: ignore[arg-type]
    apis = ProducerIdApis(manager(Blocks()), Transactions().coordinator, None)  # type: ignore[arg-type]
    request = SimpleNamespace(header=RequestHeader(client_id="c"), client_address="127.0.0.1")
    apis.handle_init_producer_id(request, body, given.append)  # type: ignore[arg-type]
    (response,) = given
    assert isinstance(response, InitProducerIdResponse)
    return Errors.for_code(response.error_code), response.producer_id, response.producer_epoch


def test_a_transactional_producer_gets_its_id_and_epoch() -> None:
    assert answer(transactional_id="t") == (Errors.NONE, 1000, 0)


def test_an_idempotent_producer_gets_an_id() -> None:
    assert answer() == (Errors.NONE, 0, 0)
    assert answer(producer_id=55, producer_epoch=3) == (Errors.NONE, 0, 0)


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"producer_id": 5}, Errors.INVALID_REQUEST),
        ({"producer_epoch": 5}, Errors.INVALID_REQUEST),
        ({"transactional_id": ""}, Errors.INVALID_REQUEST),
        ({"transactional_id": "t", "transaction_timeout_ms": 0}, Errors.INVALID_TRANSACTION_TIMEOUT),
    ],
)
def test_malformed_requests_are_rejected(fields: dict[str, object], error: Errors) -> None:
    assert answer(**fields) == (error, -1, -1)
