"""The headers of a record, with schemas. (Kafka 1.1; 0.10.2 has none.)

Kafka 1.1: connect/api/.../connect/header/Header.java, Headers.java, ConnectHeaders.java · book 8.3.2
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from kafka_lite.connect.api.data.schema import Schema


@dataclass(frozen=True)
class Header:
    """A name, and a value with its schema. Several headers of a record may have the same name."""

    key: str
    value: Any
    schema: Schema | None = None


class Headers:
    """An immutable sequence of headers: each method that changes something returns another object.

    (Kafka's are mutable, and copied with each new record.)
    """

    __slots__ = ("_headers",)

    def __init__(self, headers: Iterable[Header] = ()) -> None:
        self._headers = tuple(headers)

    def add(self, key: str, value: Any, schema: Schema | None = None) -> Headers:
        """These headers and one more."""
        return Headers((*self._headers, Header(key, value, schema)))

    def remove(self, key: str) -> Headers:
        """The headers of other names."""
        return Headers(header for header in self._headers if header.key != key)

    def retain_latest(self, key: str | None = None) -> Headers:
        """Only the last header of this name, or of each name, and the others."""
        last = {header.key: index for index, header in enumerate(self._headers)}
        return Headers(
            header
            for index, header in enumerate(self._headers)
            if last[header.key] == index or key not in (None, header.key)
        )

    def apply(self, transform: Callable[[Header], Header | None], key: str | None = None) -> Headers:
        """Apply a function to each header, or to each one of this name; None drops it."""
        transformed = (transform(header) if key is None or header.key == key else header for header in self._headers)
        return Headers(header for header in transformed if header is not None)

    def all_with_name(self, key: str) -> tuple[Header, ...]:
        """The headers of this name, in order."""
        return tuple(header for header in self._headers if header.key == key)

    def last_with_name(self, key: str) -> Header | None:
        """The last header of this name, or None."""
        return next((header for header in reversed(self._headers) if header.key == key), None)

    def __iter__(self) -> Iterator[Header]:
        return iter(self._headers)

    def __len__(self) -> int:
        return len(self._headers)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Headers) and self._headers == other._headers

    def __hash__(self) -> int:
        return hash(tuple(header.key for header in self._headers))

    def __repr__(self) -> str:
        return f"Headers({', '.join(map(repr, self._headers))})"


NO_HEADERS = Headers()
"""No headers."""
