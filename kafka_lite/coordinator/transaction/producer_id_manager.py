"""Hands out producer ids that are unique in the cluster.

Kafka 0.11: core/.../coordinator/transaction/ProducerIdManager.scala · book 10.3
"""

from __future__ import annotations

import logging
import threading
from typing import Protocol

from kafka_lite.common.errors import Errors, KafkaError
from kafka_lite.common.scheduler import Scheduler
from kafka_lite.zookeeper.data import ProducerIdsBlock

logger = logging.getLogger(__name__)

PRODUCER_ID_BLOCK_SIZE = 1000
PREFETCH_THRESHOLD = 0.9
"""Once this share of a block is used, the next block is fetched."""
MAX_PRODUCER_ID = 2**63 - 1


class ProducerIdBlocks(Protocol):
    """The part of KafkaZkClient that ProducerIdManager uses."""

    def get_producer_id_block(self) -> tuple[ProducerIdsBlock, int] | None:
        """The last allocated block and the version of its znode; None if there is none."""
        ...

    def create_producer_id_block(self, block: ProducerIdsBlock) -> bool:
        """Allocate the first block; false if another broker was first."""
        ...

    def set_producer_id_block(self, block: ProducerIdsBlock, expected_version: int) -> bool:
        """Allocate a block, if the znode still has ``expected_version``; false if another broker was first."""
        ...


class ProducerIdManager:
    """Allocates blocks of 1000 ids from ZooKeeper and hands out one id at a time.

    ::

        /latest_producer_id_block   {"version":1,"broker":1,"block_start":"2000","block_end":"2999"}

        broker 0    0 ──── 999                      (ids left in a block when a broker stops are lost)
        broker 1               1000 ─── 1999   2000 ─── 2999

    A broker owns the next block once it has written it to the znode, on condition of the version that it has read. The
    first block is allocated at startup, each further one in the background before the current one is used up, so that
    no request waits for ZooKeeper.
    """

    def __init__(self, broker_id: int, zk_client: ProducerIdBlocks, scheduler: Scheduler) -> None:
        self._broker_id = broker_id
        self._zk_client = zk_client
        self._scheduler = scheduler
        self._lock = threading.Lock()
        self._next_id = 0
        self._end = 0
        """The id after the last one of the block in use."""
        self._next_block: ProducerIdsBlock | None = None
        self._is_fetching = False

    def startup(self) -> None:
        """Allocate the first block. Raises ZooKeeper's errors, and KafkaError if there are no ids left."""
        self._next_block = self._allocate_block()

    def generate_producer_id(self) -> int:
        """An id that was never handed out before. Never blocks.

        Raises ApiError COORDINATOR_LOAD_IN_PROGRESS, on which every client retries, if the block is used up and
        ZooKeeper has not provided the next one yet.
        """
        with self._lock:
            if self._next_id >= self._end and self._next_block is not None:
                block, self._next_block = self._next_block, None
                self._next_id, self._end = block.first_producer_id, block.last_producer_id + 1
            if self._end - self._next_id <= PRODUCER_ID_BLOCK_SIZE * (1 - PREFETCH_THRESHOLD):
                self._prefetch()
            if self._next_id >= self._end:
                raise Errors.COORDINATOR_LOAD_IN_PROGRESS.exception("the next block of ids is not allocated yet")
            self._next_id += 1
            return self._next_id - 1

    def _prefetch(self) -> None:
        if self._next_block is None and not self._is_fetching:
            self._is_fetching = True
            self._scheduler.schedule("fetch-producer-ids", self._fetch_block)

    def _fetch_block(self) -> None:
        try:
            block = self._allocate_block()
            with self._lock:
                self._next_block = block
        finally:
            self._is_fetching = False

    def _allocate_block(self) -> ProducerIdsBlock:
        while True:
            found = self._zk_client.get_producer_id_block()
            block = self._block_behind(found[0].last_producer_id if found is not None else -1)
            if found is None:
                taken = self._zk_client.create_producer_id_block(block)
            else:
                taken = self._zk_client.set_producer_id_block(block, found[1])
            if taken:
                logger.info("Allocated the producer ids %d to %d", block.first_producer_id, block.last_producer_id)
                return block

    def _block_behind(self, last_producer_id: int) -> ProducerIdsBlock:
        if last_producer_id > MAX_PRODUCER_ID - PRODUCER_ID_BLOCK_SIZE:
            raise KafkaError(f"all producer ids are used up: the last block ends with {last_producer_id}")
        return ProducerIdsBlock(self._broker_id, last_producer_id + 1, last_producer_id + PRODUCER_ID_BLOCK_SIZE)
