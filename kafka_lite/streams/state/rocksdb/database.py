"""A RocksDB, opened with Kafka's options. The only module that knows the package which binds it.

Kafka 0.10.2: streams/.../state/internals/RocksDBStore.java (openDB, putInternal, RocksDbIterator) · book 9.1.4
"""

from __future__ import annotations

import importlib
import os
import shutil
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from kafka_lite.common.new_instance import new_instance
from kafka_lite.streams.errors import InvalidStateStoreError, ProcessorStateError, StreamsError
from kafka_lite.streams.state.rocksdb.rocksdb_config_setter import CONFIG_SETTER, RocksDBConfigSetter

Entry = tuple[bytes, bytes]

WRITE_BUFFER_BYTES = 32 * 1024 * 1024
MAX_WRITE_BUFFERS = 3
BLOCK_CACHE_BYTES = 100 * 1024 * 1024
BLOCK_BYTES = 4096
FORMAT_VERSION = 5
"""Of the tables. The binding's RocksDB writes 6 by default, and that of Kafka Streams 3.9 (7.9.2) reads up to 5."""
KEPT_LOG_FILES = 1
"""RocksDB's own text logs. Kafka lets it log errors only; the binding has no such option."""

_CURRENT = "CURRENT"
_CORRUPT_MARKER = "CORRUPT"


class CorruptStoreError(ProcessorStateError):
    """The files of a store are damaged. Its changelog has all of its content."""


def load_rocksdict() -> Any:
    """The package that binds RocksDB. Raises StreamsError, which says how to install it."""
    try:
        return importlib.import_module("rocksdict")
    except ImportError as error:
        raise StreamsError(
            "a store on disk needs RocksDB: pip install 'kafka-lite[streams]', or use a store in memory"
        ) from error


def is_available() -> bool:
    """Whether RocksDB is installed."""
    try:
        load_rocksdict()
    except StreamsError:
        return False
    return True


def _default_options(rocksdict: Any) -> Any:
    table = rocksdict.BlockBasedOptions()
    table.set_block_cache(rocksdict.Cache(BLOCK_CACHE_BYTES))
    table.set_block_size(BLOCK_BYTES)
    table.set_format_version(FORMAT_VERSION)
    options = rocksdict.Options(raw_mode=True)  # keys and values are bytes, as they are
    options.set_block_based_table_factory(table)
    options.set_write_buffer_size(WRITE_BUFFER_BYTES)
    options.set_max_write_buffer_number(MAX_WRITE_BUFFERS)
    options.set_compression_type(rocksdict.DBCompressionType.none())
    options.set_compaction_style(rocksdict.DBCompactionStyle.universal())
    options.set_keep_log_file_num(KEPT_LOG_FILES)
    options.create_if_missing(True)
    options.increase_parallelism(max(os.cpu_count() or 1, 2))
    return options


class Database:
    """Maps bytes to bytes, ordered by unsigned bytes.

    There is no write-ahead log: what is written is durable after ``flush``, and what a crash takes is restored from the
    changelog. Methods raise InvalidStateStoreError after ``close``, and ProcessorStateError if RocksDB fails.
    """

    def __init__(self, name: str, path: Path, configs: Mapping[str, object]) -> None:
        """Open or create the database in the directory ``path``.

        Raises CorruptStoreError for damaged files, and ProcessorStateError.
        """
        rocksdict = load_rocksdict()
        self._name = name
        self._path = path
        self._lock = threading.Lock()  # other threads read, and none may while the database is being closed
        self._iterators: weakref.WeakSet[DatabaseIterator] = weakref.WeakSet()
        self._rocksdict = rocksdict
        self._write_options = rocksdict.WriteOptions()
        self._write_options.disable_wal = True
        options = _default_options(rocksdict)
        if configs.get(CONFIG_SETTER):
            setter: RocksDBConfigSetter = new_instance(CONFIG_SETTER, RocksDBConfigSetter, str(configs[CONFIG_SETTER]))
            setter.set_config(name, options, configs)
        if (path / _CORRUPT_MARKER).exists():
            raise CorruptStoreError(f"store {name} at {path} was found to be damaged when it was read")
        path.mkdir(parents=True, exist_ok=True)
        try:
            self._db: Any = rocksdict.Rdict(str(path), options)
        except Exception as error:
            raise self._failure("opening it", error) from error

    @staticmethod
    def exists(path: Path) -> bool:
        """Whether there is a database in a directory."""
        return (path / _CURRENT).exists()

    def get(self, key: bytes) -> bytes | None:
        """The value of a key, or None."""
        with self._lock:
            db = self._opened()
            try:
                value: bytes | None = db.get(key)
            except Exception as error:
                raise self._failure("reading", error) from error
        return value

    def put(self, key: bytes, value: bytes | None) -> None:
        """Set or delete the value of a key."""
        with self._lock:
            db = self._opened()
            try:
                if value is None:
                    db.delete(key, self._write_options)
                else:
                    db.put(key, value, self._write_options)
            except Exception as error:
                raise self._failure("writing", error) from error

    def put_all(self, entries: Iterable[tuple[bytes, bytes | None]]) -> None:
        """Set or delete the values of several keys in one write."""
        batch = self._rocksdict.WriteBatch(raw_mode=True)
        for key, value in entries:
            if value is None:
                batch.delete(key)
            else:
                batch.put(key, value)
        with self._lock:
            db = self._opened()
            try:
                db.write(batch, self._write_options)
            except Exception as error:
                raise self._failure("writing", error) from error

    def range(self, first: bytes | None, before: bytes | None) -> DatabaseIterator:
        """The entries of this moment from ``first`` to below ``before``; None means without a bound."""
        options = self._rocksdict.ReadOptions()
        if before is not None:
            options.set_iterate_upper_bound(before)
        with self._lock:
            db = self._opened()
            if first is not None and before is not None and first >= before:
                items: Any = iter(())
            elif first is None:
                items = db.items(read_opt=options)
            else:
                items = db.items(from_key=first, read_opt=options)
            iterator = DatabaseIterator(items, self, options)
            self._iterators.add(iterator)
        return iterator

    def next_of(self, iterator: DatabaseIterator) -> Entry:
        """The next entry. Raises StopIteration at the end."""
        with self._lock:
            if iterator.items is None:
                raise InvalidStateStoreError(f"Store {self._name} is currently closed")
            try:
                entry: Entry = next(iterator.items)
            except StopIteration:
                iterator.items = iter(())  # RocksDB keeps the files of an open iterator
                raise
            except Exception as error:
                raise self._failure("reading", error) from error
        return entry

    def approximate_num_entries(self) -> int:
        """RocksDB's estimate. A key that was written twice may count twice."""
        with self._lock:
            return int(self._opened().property_int_value("rocksdb.estimate-num-keys") or 0)

    def flush(self) -> None:
        """Make all that has been written durable."""
        with self._lock:
            db = self._opened()
            try:
                db.flush()
            except Exception as error:
                raise self._failure("flushing", error) from error

    def close(self) -> None:
        """Flush and close the database and all of its iterators. A no-op if it is closed."""
        with self._lock:
            db, self._db = self._db, None
            for iterator in list(self._iterators):
                iterator.items = None
            if db is not None:
                try:
                    db.close()
                except Exception as error:
                    raise self._failure("closing it", error) from error

    def destroy(self) -> None:
        """Delete the files of a closed database."""
        shutil.rmtree(self._path)

    def _opened(self) -> Any:
        if self._db is None:
            raise InvalidStateStoreError(f"Store {self._name} is currently closed")
        return self._db

    def _failure(self, what: str, error: Exception) -> ProcessorStateError:
        """The binding's errors differ in their text only. The next start rebuilds what was found to be damaged."""
        text = f"store {self._name} at {self._path}: {what} failed: {error}"
        if not str(error).startswith("Corruption"):
            return ProcessorStateError(text)
        with suppress(OSError):
            (self._path / _CORRUPT_MARKER).touch()
        return CorruptStoreError(text)


class DatabaseIterator(Iterator[Entry]):
    """Keys and values in order, as they were when it was made. It ends with its database."""

    def __init__(self, items: Any, database: Database, options: Any) -> None:
        self.items = items
        self._database = database
        self._options = options  # RocksDB reads the bound in it, and the binding does not keep it alive

    def __next__(self) -> Entry:
        return self._database.next_of(self)
