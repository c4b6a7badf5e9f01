"""A key-value store on disk. After a restart only what its checkpoint does not cover comes from the changelog.

Kafka 0.10.2: streams/.../state/internals/RocksDBStore.java · book 9.1.4
"""

from __future__ import annotations

import shutil

from kafka_lite.streams.errors import InvalidStateStoreError
from kafka_lite.streams.processor.state_store import ROCKS_DB_DIR, StateStore, StateStoreContext
from kafka_lite.streams.state.key_value_store import KeyValueStore
from kafka_lite.streams.state.rocksdb.bulk_load import BulkLoad
from kafka_lite.streams.state.rocksdb.database import CorruptStoreError, Database, DatabaseIterator


class RocksDBStore(KeyValueStore[bytes, bytes]):
    """Maps bytes to bytes, in ``<directory of the task>/rocksdb/<name>``."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._database: Database | None = None
        self._loading: BulkLoad | None = None
        """Entries that a standby task restores wait in it until the next flush."""

    @property
    def name(self) -> str:
        """The store's name."""
        return self._name

    @property
    def persistent(self) -> bool:
        """True."""
        return True

    @property
    def is_open(self) -> bool:
        """Whether it has been initialized and not closed yet."""
        return self._database is not None

    def init(self, context: StateStoreContext, root: StateStore) -> None:
        """Open the store, and restore it. A damaged one is restored as a whole.

        Raises ProcessorStateError if it cannot be opened, or is damaged and has no changelog.
        """
        database = self._open(context)
        loading = BulkLoad(database.put_all)
        try:
            context.register(root, loading)
            loading.finish()
        except BaseException:
            database.close()  # nobody else knows it yet
            raise
        self._database, self._loading = database, loading

    def _open(self, context: StateStoreContext) -> Database:
        path = context.state_dir / ROCKS_DB_DIR / self._name
        if not Database.exists(path):
            context.forget_checkpoint(self._name, f"{path} is not there")
        try:
            return Database(self._name, path, context.app_configs)
        except CorruptStoreError as error:
            if not context.forget_checkpoint(self._name, str(error)):
                raise
            shutil.rmtree(path)
            return Database(self._name, path, context.app_configs)

    def get(self, key: bytes) -> bytes | None:
        """The value of a key, or None."""
        return self._opened().get(key)

    def put(self, key: bytes, value: bytes | None) -> None:
        """Set or delete the value of a key."""
        self._opened().put(key, value)

    def put_if_absent(self, key: bytes, value: bytes | None) -> bytes | None:
        """Set the value of a key that has none. Returns the value that it had."""
        original = self.get(key)
        if original is None:
            self.put(key, value)
        return original

    def delete(self, key: bytes) -> bytes | None:
        """Delete a key. Returns the value that it had."""
        original = self.get(key)
        self.put(key, None)
        return original

    def range(self, first: bytes, last: bytes) -> DatabaseIterator:
        """The entries from ``first`` to ``last``, both included."""
        return self._opened().range(first, last + b"\0")

    def all(self) -> DatabaseIterator:
        """All entries."""
        return self._opened().range(None, None)

    def approximate_num_entries(self) -> int:
        """RocksDB's estimate."""
        return self._opened().approximate_num_entries()

    def flush(self) -> None:
        """Write everything to disk, before the checkpoint that says so."""
        if self._database is not None and self._loading is not None:
            self._loading.finish()
            self._database.flush()

    def close(self) -> None:
        """Close the database, and all iterators."""
        database, self._database = self._database, None
        if database is not None:
            database.close()

    def _opened(self) -> Database:
        database = self._database
        if database is None:
            raise InvalidStateStoreError(f"Store {self._name} is currently closed")
        return database
