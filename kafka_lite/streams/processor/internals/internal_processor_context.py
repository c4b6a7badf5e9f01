"""The context as the runtime's own processors may use it.

Kafka 0.10.2: streams/.../processor/internals/InternalProcessorContext.java · book 9.1.2
"""

from __future__ import annotations

from kafka_lite.streams.processor.internals.topology.processor_node import ProcessorNode
from kafka_lite.streams.processor.processor_context import ProcessorContext


class InternalProcessorContext(ProcessorContext):
    """A context whose current node can be set, for a node that forwards later than it was called."""

    current_node: ProcessorNode | None
