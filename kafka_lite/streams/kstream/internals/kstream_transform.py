"""The processors around a user's transformer.

Kafka 0.10.2: streams/.../kstream/internals/KStreamTransform.java, KStreamTransformValues.java · book 9.2.2
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

from kafka_lite.record.record import Header
from kafka_lite.streams.errors import StreamsError
from kafka_lite.streams.kstream.transformer import Transformer, ValueTransformer
from kafka_lite.streams.processor.processor import Processor
from kafka_lite.streams.processor.processor_context import ProcessorContext
from kafka_lite.streams.processor.state_store import StateRestoreCallback, StateStore


class KStreamTransform(Processor[Any, Any]):
    """Passes on what the transformer returns."""

    def __init__(self, transformer: Transformer[Any, Any, Any]) -> None:
        self._transformer = transformer

    def init(self, context: ProcessorContext) -> None:
        """Initialize the transformer."""
        super().init(context)
        self._transformer.init(context)

    def process(self, key: Any, value: Any) -> None:
        """Transform a record."""
        self._forward(self._transformer.transform(key, value))

    def punctuate(self, timestamp: int) -> None:
        """Let the transformer make a record."""
        self._forward(self._transformer.punctuate(timestamp))

    def close(self) -> None:
        """Close the transformer."""
        self._transformer.close()

    def _forward(self, record: Any) -> None:
        if record is not None:
            self.context.forward(*record)


class KStreamTransformValues(Processor[Any, Any]):
    """Passes on each key with the value that the transformer returns."""

    def __init__(self, transformer: ValueTransformer[Any, Any]) -> None:
        self._transformer = transformer

    def init(self, context: ProcessorContext) -> None:
        """Initialize the transformer, with a context that forwards nothing."""
        super().init(context)
        self._transformer.init(_ContextWithoutForward(context))

    def process(self, key: Any, value: Any) -> None:
        """Transform a value."""
        self.context.forward(key, self._transformer.transform(value))

    def punctuate(self, timestamp: int) -> None:
        """Let the transformer do what is to be done at times."""
        self._transformer.punctuate(timestamp)

    def close(self) -> None:
        """Close the transformer."""
        self._transformer.close()


class _ContextWithoutForward(ProcessorContext):
    """The context of the task, except for ``forward``."""

    def __init__(self, context: ProcessorContext) -> None:
        self._context = context
        self.application_id = context.application_id
        self.task_id = context.task_id
        self.key_serde = context.key_serde
        self.value_serde = context.value_serde
        self.record_collector = context.record_collector
        self.app_configs = context.app_configs
        self.metrics = context.metrics

    def forward(self, key: object, value: object, child: int | str | None = None) -> NoReturn:  # noqa: ARG002
        raise StreamsError("ProcessorContext.forward must not be called within transform_values.")

    def register(self, store: StateStore, restore: StateRestoreCallback) -> None:
        self._context.register(store, restore)

    def forget_checkpoint(self, store: str, why: str) -> bool:
        return self._context.forget_checkpoint(store, why)

    @property
    def state_dir(self) -> Path:
        return self._context.state_dir

    def commit(self) -> None:
        self._context.commit()

    def schedule(self, interval_ms: int) -> None:
        self._context.schedule(interval_ms)

    def get_state_store(self, name: str) -> StateStore:
        return self._context.get_state_store(name)

    @property
    def timestamp(self) -> int:
        return self._context.timestamp

    @property
    def topic(self) -> str | None:
        return self._context.topic

    @property
    def partition(self) -> int:
        return self._context.partition

    @property
    def offset(self) -> int:
        return self._context.offset

    @property
    def headers(self) -> tuple[Header, ...]:
        return self._context.headers
