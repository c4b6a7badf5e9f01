"""How a processor with a store passes changes on: at once, or when they leave the store's cache.

Kafka 0.10.2: streams/.../kstream/internals/TupleForwarder.java, ForwardingCacheFlushListener.java · book 9.1.4
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka_lite.streams.kstream.internals.change import Change
from kafka_lite.streams.processor.internals.internal_processor_context import InternalProcessorContext
from kafka_lite.streams.processor.internals.topology.processor_node import ProcessorNode
from kafka_lite.streams.processor.processor_context import ProcessorContext
from kafka_lite.streams.processor.state_store import StateStore
from kafka_lite.streams.state.cached_state_store import CachedStateStore


class ForwardingCacheFlushListener:
    """Forwards a change from the node that put it, whichever node is current when it leaves the cache."""

    def __init__(
        self, context: InternalProcessorContext, send_old_values: bool, key_of: Callable[[Any], Any] | None = None
    ) -> None:
        self._context = context
        self._send_old_values = send_old_values
        self._key_of = key_of
        self._node: ProcessorNode | None = context.current_node

    def __call__(self, key: Any, new: Any, old: Any) -> None:
        """Forward a change."""
        context, current = self._context, self._context.current_node
        context.current_node = self._node
        try:
            typed = key if self._key_of is None else self._key_of(key)
            context.forward(typed, Change(new, old if self._send_old_values else None))
        finally:
            context.current_node = current


class TupleForwarder:
    """Made in a processor's ``init``, for the store that it puts its changes into."""

    def __init__(
        self,
        store: StateStore,
        context: ProcessorContext,
        send_old_values: bool,
        key_of: Callable[[Any], Any] | None = None,
    ) -> None:
        """``key_of`` makes the key to be forwarded of a key in the store, if they differ."""
        self._context = context
        self._send_old_values = send_old_values
        self._is_cached = (
            isinstance(store, CachedStateStore)
            and isinstance(context, InternalProcessorContext)
            and store.set_flush_listener(ForwardingCacheFlushListener(context, send_old_values, key_of))
        )

    def maybe_forward(self, key: Any, new: Any, old: Any) -> None:
        """Forward a change of a store without a cache. A cache forwards by itself."""
        if not self._is_cached:
            self._context.forward(key, Change(new, old if self._send_old_values else None))
