"""A node of a task's topology: a user's processor, or what stands for it.

Kafka 0.10.2: streams/.../processor/internals/ProcessorNode.java · book 9.1.2
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kafka_lite.streams.errors import StreamsError
from kafka_lite.streams.metrics.node_metrics import NodeMetrics
from kafka_lite.streams.processor.processor import Processor
from kafka_lite.streams.processor.processor_context import ProcessorContext


class ProcessorNode:
    """Knows its children; the context that forwards records to them knows the current node."""

    def __init__(
        self, name: str, processor: Processor[Any, Any] | None = None, state_stores: Iterable[str] = ()
    ) -> None:
        self.name = name
        self.processor = processor
        self.state_stores = frozenset(state_stores)
        """The names of the stores that it may use."""
        self.children: list[ProcessorNode] = []
        self._node_metrics: NodeMetrics | None = None
        """The metrics of the node, from ``init`` to ``close``."""
        self._recording: NodeMetrics | None = None
        """The same, if the recording level is DEBUG."""

    def add_child(self, child: ProcessorNode) -> None:
        """Append a child."""
        self.children.append(child)

    def init(self, context: ProcessorContext) -> None:
        """Initialize the processor. Raises StreamsError if that fails."""
        self._node_metrics = measured = NodeMetrics(context.metrics, self.name, context.task_id)
        self._recording = measured if measured.is_recording else None
        if (processor := self.processor) is not None:
            try:
                measured.created(lambda: processor.init(context))
            except Exception as error:
                raise StreamsError(f"failed to initialize processor {self.name}") from error

    def process(self, key: Any, value: Any) -> None:
        """Process a record."""
        if self.processor is not None:
            if self._recording is None:
                self.processor.process(key, value)
            else:
                self._recording.processed(self.processor.process, key, value)

    def punctuate(self, timestamp: int) -> None:
        """Call the processor's ``punctuate``; ``timestamp`` is the stream time in ms."""
        if self.processor is not None:
            if self._recording is None:
                self.processor.punctuate(timestamp)
            else:
                self._recording.punctuated(self.processor.punctuate, timestamp)

    def close(self) -> None:
        """Close the processor. Raises StreamsError if that fails."""
        measured, self._node_metrics, self._recording = self._node_metrics, None, None
        try:
            if self.processor is not None:
                if measured is None:
                    self.processor.close()
                else:
                    measured.destroyed(self.processor.close)
        except Exception as error:
            raise StreamsError(f"failed to close processor {self.name}") from error
        finally:
            if measured is not None:
                measured.remove_all_sensors()
