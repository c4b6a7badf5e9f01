"""Reads Helix's records from ZooKeeper, and makes the writes that the core has decided.

Helix 0.6.9: helix-core/.../manager/zk/ZKHelixDataAccessor.java · book 8.2.1
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterable, Sequence

from kafka_lite.mirror.helix.helix_errors import UnreadableRecordError
from kafka_lite.mirror.helix.property_paths import PropertyPaths
from kafka_lite.mirror.helix.writes import Create, Delete, Put, Write
from kafka_lite.mirror.helix.zn_record import ZNRecord
from kafka_lite.zookeeper.zk_errors import NodeExistsError, NoNodeError
from kafka_lite.zookeeper.zookeeper_client import ZooKeeperClient

logger = logging.getLogger(__name__)


class ZKHelixDataAccessor:
    """The records of one cluster. A RecordReader. Thread-safe."""

    def __init__(self, zk: ZooKeeperClient, paths: PropertyPaths) -> None:
        self.zk = zk
        self.paths = paths

    @property
    def session(self) -> str:
        """This session, as Helix writes it: in lower-case hex without 0x, even while the connection is lost."""
        return f"{self._session_id:x}"

    @property
    def _session_id(self) -> int:
        session = self.zk.session
        return 0 if session is None else session[0]

    def children(self, path: str) -> Sequence[str]:
        """The names of a znode's children, sorted; none if there is no such znode."""
        return self.zk.children(path)

    def get(self, path: str) -> ZNRecord | None:
        """A znode's record; None if the znode or its value is missing. Raises UnreadableRecordError."""
        try:
            data, _ = self.zk.get(path)
        except NoNodeError:
            return None
        return ZNRecord.from_bytes(data or b"")

    def child_records(self, path: str) -> dict[str, ZNRecord]:
        """The records of a znode's children, by name. One that cannot be read is logged and left out, as in Helix."""
        found = {}
        for name in self.children(path):
            try:
                record = self.get(f"{path}/{name}")
            except UnreadableRecordError as error:
                logger.error("%s/%s is ignored: %s", path, name, error)
                continue
            if record is not None:
                found[name] = record
        return found

    def apply(self, writes: Iterable[Write]) -> None:
        """Make writes in their order. What is there already, or has gone already, is no error."""
        for write in writes:
            if isinstance(write, Create):
                with contextlib.suppress(NodeExistsError):
                    self.zk.create_recursive(write.path, write.record.to_bytes())
            elif isinstance(write, Put):
                self.zk.set_or_create(write.path, write.record.to_bytes())
            else:
                assert isinstance(write, Delete)
                self.zk.delete_recursive(write.path)

    def create_ephemeral(self, path: str, record: ZNRecord) -> bool:
        """Create a znode that goes with this session; False if another session has it.

        One that is this session's already gets the record: a lost response may have hidden that it was created, or an
        earlier session may have ended during the call, whose record then names that one.
        """
        try:
            self.zk.create(path, record.to_bytes(), ephemeral=True)
        except NodeExistsError:
            return self._is_own(path) and self._set_own(path, record)
        return True

    def _is_own(self, path: str) -> bool:
        stat = self.zk.exists(path)
        return stat is not None and stat.ephemeral_owner == self._session_id

    def _set_own(self, path: str, record: ZNRecord) -> bool:
        """Make this the record; False if the znode has gone meanwhile."""
        try:
            if self.get(path) != record:
                self.zk.set(path, record.to_bytes())
        except NoNodeError:
            return False
        return True
