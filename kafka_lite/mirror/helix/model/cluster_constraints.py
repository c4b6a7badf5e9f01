"""Limits on the number of messages that are on their way: of a cluster, an instance, a resource, a transition.

A constraint has attributes, which are regular expressions that the whole of a message's attribute must match, and a
value::

    {"MESSAGE_TYPE": "STATE_TRANSITION", "INSTANCE": ".*", "CONSTRAINT_VALUE": "10"}

It counts separately for each combination of the attributes that it names: the one above allows ten transitions per
instance.

Helix 0.6.9: helix-core/.../model/ClusterConstraints.java (ClusterConstraints), helix-core/.../model/ConstraintItem.java
(ConstraintItem) · book 8.2.2
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from kafka_lite.mirror.helix.model.message import Message
from kafka_lite.mirror.helix.zn_record import ZNRecord

CONSTRAINT_VALUE = "CONSTRAINT_VALUE"
ANY = "ANY"
_ATTRIBUTES = frozenset({"STATE", "MESSAGE_TYPE", "TRANSITION", "RESOURCE", "PARTITION", "INSTANCE"})


@dataclass(frozen=True)
class ConstraintItem:
    """One constraint."""

    attributes: Mapping[str, str]
    value: str

    @property
    def limit(self) -> int | None:
        """How many messages are allowed; None for any number, and for a value that cannot be read."""
        try:
            return int(self.value)
        except ValueError:
            return None

    def matches(self, attributes: Mapping[str, str]) -> bool:
        """Whether each attribute of the constraint matches that of a message, or of a more specific constraint."""
        return all(
            name in attributes and re.fullmatch(pattern, attributes[name]) is not None
            for name, pattern in self.attributes.items()
        )

    def key(self, attributes: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
        """The values under which the constraint counts a message."""
        return tuple((name, attributes[name]) for name in sorted(self.attributes))

    def __str__(self) -> str:
        """For the order of constraints that differ in nothing else."""
        return f"{dict(sorted(self.attributes.items()))}:{self.value}"


def message_constraints(record: ZNRecord | None) -> tuple[ConstraintItem, ...]:
    """The constraints of a record. One without attributes, without a value or with a bad pattern is ignored."""
    items = []
    for fields in (record.map_fields if record else {}).values():
        attributes = {name: value for name, value in fields.items() if name in _ATTRIBUTES}
        if attributes and CONSTRAINT_VALUE in fields and all(map(_compiles, attributes.values())):
            items.append(ConstraintItem(attributes, fields[CONSTRAINT_VALUE]))
    return tuple(items)


def message_attributes(message: Message) -> dict[str, str]:
    """The attributes of a message that constraints look at."""
    if not message.is_transition:
        return {"MESSAGE_TYPE": message.type}
    return {
        "MESSAGE_TYPE": message.type,
        "TRANSITION": f"{message.from_state}-{message.to_state}",
        "RESOURCE": message.resource,
        "INSTANCE": message.instance,
        "PARTITION": message.partition,
    }


def _compiles(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True
