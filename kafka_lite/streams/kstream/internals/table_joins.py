"""Joins with tables: a record or a change looks the other side up.

Kafka 0.10.2: streams/.../kstream/internals/KStreamKTableJoin.java, KTableKTableJoin.java, KTableKTableJoinMerger.java,
KTableKTableLeftJoin.java, KTableKTableRightJoin.java, KTableKTableOuterJoin.java · book 9.2.3
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka_lite.streams.kstream.internals.change import Change
from kafka_lite.streams.kstream.internals.dropping_processor import DroppingProcessor
from kafka_lite.streams.kstream.internals.ktable_processors import KTableProcessorSupplier, KTableValueGetter
from kafka_lite.streams.processor.processor import Processor
from kafka_lite.streams.processor.processor_context import ProcessorContext

Joiner = Callable[[Any, Any], Any]


class KStreamKTableJoin(DroppingProcessor):
    """Joins each record with the value that its key has in the table now. Changes of the table send nothing.

    Records without a key or a value are dropped; without ``left``, so are those whose key is not in the table.
    """

    _getter: KTableValueGetter

    def __init__(self, table: KTableProcessorSupplier, joiner: Joiner, left: bool) -> None:
        self._table = table
        self._joiner = joiner
        self._left = left

    def init(self, context: ProcessorContext) -> None:
        """Prepare to look values up."""
        super().init(context)
        self._getter = self._table.value_getter(context)

    def process(self, key: Any, value: Any) -> None:
        """Join a record."""
        if key is None or value is None:
            self.skip_record("null join key or value")
            return
        other = self._getter(key)
        if self._left or other is not None:
            self.context.forward(key, self._joiner(value, other))


class KTableKTableJoin(KTableProcessorSupplier):
    """One side of a join of two tables: a change of this table meets the current value of the other one.

    Each join has two of them. Which value must not be missing::

        join          this side      other side
        inner         both           both
        left          this           other (Kafka: KTableKTableRightJoin)
        outer         neither        neither
    """

    def __init__(
        self,
        this: KTableProcessorSupplier,
        other: KTableProcessorSupplier,
        joiner: Joiner,
        *,
        needs_this: bool,
        needs_other: bool,
    ) -> None:
        self._this = this
        self.other = other
        self._joiner = joiner
        self._needs_this = needs_this
        self.needs_other = needs_other
        self.store_names = tuple(dict.fromkeys((*this.store_names, *other.store_names)))

    def enable_sending_old_values(self) -> None:
        """The old value is that of the changed side, joined with the current value of the other."""
        self._this.enable_sending_old_values()
        self.other.enable_sending_old_values()
        super().enable_sending_old_values()

    def joined(self, value: Any, other: Any) -> Any:
        """The joined value; None if a value is missing that must not be, or both."""
        if (value is None and (self._needs_this or other is None)) or (other is None and self.needs_other):
            return None
        return self._joiner(value, other)

    def value_getter(self, context: ProcessorContext) -> KTableValueGetter:
        """Look both values up, and join them."""
        this, other = self._this.value_getter(context), self.other.value_getter(context)
        return lambda key: self.joined(this(key), other(key))

    def __call__(self) -> Processor[Any, Any]:
        """A new processor."""
        return _KTableKTableJoinProcessor(self)


class _KTableKTableJoinProcessor(DroppingProcessor):
    _getter: KTableValueGetter

    def __init__(self, supplier: KTableKTableJoin) -> None:
        self._supplier = supplier

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self._getter = self._supplier.other.value_getter(context)

    def process(self, key: Any, value: Change[Any]) -> None:
        """Join a change of this side with the current value of the other, and send the change of the joined value.

        Dropped are changes without a key; changes whose other value is missing and needed; and changes from nothing to
        nothing whose other value is missing. The old joined value is that of the old value, if old values are sent.
        """
        supplier = self._supplier
        if key is None:
            self.skip_record("null key")
            return
        other = self._getter(key)
        if other is None and (supplier.needs_other or value == (None, None)):
            return
        old = supplier.joined(value.old_value, other) if supplier.send_old_values else None
        self.context.forward(key, Change(supplier.joined(value.new_value, other), old))


class KTableKTableJoinMerger(KTableProcessorSupplier):
    """The joined table: the changes of both sides."""

    def __init__(self, this: KTableKTableJoin, other: KTableKTableJoin) -> None:
        self._this = this
        self._other = other
        self.store_names = this.store_names

    def enable_sending_old_values(self) -> None:
        """Both sides send old values."""
        self._this.enable_sending_old_values()
        self._other.enable_sending_old_values()
        super().enable_sending_old_values()

    def value_getter(self, context: ProcessorContext) -> KTableValueGetter:
        """Look both values up, and join them."""
        return self._this.value_getter(context)

    def __call__(self) -> Processor[Any, Any]:
        """A new processor."""
        return _MergeProcessor()


class _MergeProcessor(Processor[Any, Any]):
    def process(self, key: Any, value: Any) -> None:
        self.context.forward(key, value)
