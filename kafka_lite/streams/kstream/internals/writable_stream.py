"""The ways out of a topology that streams and tables share: a topic, a file, standard output.

Kafka 0.10.2: streams/.../kstream/internals/KStreamImpl.java, KTableImpl.java (to, print, writeAsText) · book 9.2.2
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, Generic, TypeVar

from kafka_lite.common.serdes import Serde
from kafka_lite.streams.kstream.dsl_arguments import ensure_topic
from kafka_lite.streams.kstream.internals.abstract_stream import AbstractStream
from kafka_lite.streams.kstream.internals.key_value_printer import KeyValuePrinter, ensure_writable
from kafka_lite.streams.kstream.internals.topic_nodes import serializer_of
from kafka_lite.streams.kstream.windowed_serde import WindowedSerializer, WindowedStreamPartitioner
from kafka_lite.streams.processor.stream_partitioner import StreamPartitioner

K = TypeVar("K")
V = TypeVar("V")


class WritableStream(AbstractStream[K], ABC, Generic[K, V]):
    """A stream of records, or a table, whose records are its changes."""

    @abstractmethod
    def _node_of_plain_values(self) -> str:
        """The name of a node whose values can be written to a topic, which a table's changes cannot."""

    def to(
        self,
        topic: str,
        key_serde: Serde[K] | None = None,
        value_serde: Serde[V] | None = None,
        partitioner: StreamPartitioner[K, V] | None = None,
    ) -> None:
        """Write the records, or the new values of a table, to a topic. Serdes default to those of the application.

        Without a partitioner, the producer chooses the partition by the hash of the key; with a ``WindowedSerde`` for
        the keys, the hash does not depend on the window.
        """
        parent, key_serializer = self._node_of_plain_values(), serializer_of(key_serde)
        by_key: StreamPartitioner[Any, Any] | None = partitioner
        if partitioner is None and isinstance(key_serializer, WindowedSerializer):
            by_key = WindowedStreamPartitioner(topic, key_serializer)
        self._builder.add_sink(
            self._builder.new_name("KSTREAM-SINK-"),
            ensure_topic(topic),
            parent,
            key_serializer=key_serializer,
            value_serializer=serializer_of(value_serde),
            partitioner=by_key,
        )

    def print(
        self,
        key_serde: Serde[K] | None = None,
        value_serde: Serde[V] | None = None,
        stream_name: str | None = None,
    ) -> None:
        """Print the records to standard output as ``[name]: key , value``, for debugging.

        A table's changes are printed with ``(new value<-old value)`` as value. The serdes deserialize keys and values
        that are bytes. ``stream_name`` replaces the name of the node.
        """
        self._print(None, key_serde, value_serde, stream_name)

    def write_as_text(
        self,
        path: str | Path,
        stream_name: str | None = None,
        key_serde: Serde[K] | None = None,
        value_serde: Serde[V] | None = None,
    ) -> None:
        """Write the records to a file, as ``print`` does. The file is emptied now.

        Raises TopologyBuilderError if it cannot be written.
        """
        self._print(ensure_writable(Path(path)), key_serde, value_serde, stream_name)

    def _print(
        self, path: Path | None, key_serde: Serde[Any] | None, value_serde: Serde[Any] | None, name: str | None
    ) -> None:
        shown = name or self.name
        self._add("KSTREAM-PRINTER-", lambda: KeyValuePrinter(path, key_serde, value_serde, shown))
