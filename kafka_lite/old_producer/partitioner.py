"""Chooses the partition of a message with a key.

Kafka 0.10.2: core/.../producer/Partitioner.scala, DefaultPartitioner.scala, ByteArrayPartitioner.scala · book 2.2.2
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any


class Partitioner(ABC):
    """The base of partitioners, which are created with the producer's configuration."""

    def __init__(self, configs: Mapping[str, object]) -> None:
        self.configs = configs

    @abstractmethod
    def partition(self, key: Any, number_of_partitions: int) -> int:
        """An index into the topic's list of partitions."""


class DefaultPartitioner(Partitioner):
    """Uses Java's hash code of the key, so that Scala's producers and this one agree on text and numbers.

    Java hashes the *identity* of a byte array, so 0.10.2's default partitioner scatters equal keys. Here the content is
    hashed, as in its ByteArrayPartitioner. The new producer uses murmur2 and so chooses other partitions.
    """

    def partition(self, key: Any, number_of_partitions: int) -> int:
        """The absolute value of the hash code, modulo the number of partitions."""
        code = java_hash_code(key)
        # Java's Math.abs returns a negative number for the smallest int, for which Kafka's Utils.abs uses 0.
        return 0 if code == -(1 << 31) else abs(code) % number_of_partitions


def java_hash_code(key: Any) -> int:
    """``hashCode`` of a Java String, Integer, Long, Boolean or (as ``Arrays.hashCode``) byte[]; 32 bits, signed.

    Raises TypeError for anything else.
    """
    if isinstance(key, bool):
        return 1231 if key else 1237
    if isinstance(key, int):
        if -(1 << 31) <= key < 1 << 31:
            return key
        return _signed((key ^ (key >> 32)) & 0xFFFFFFFF)
    if isinstance(key, str):
        code_units = key.encode("utf-16-be", "surrogatepass")
        units = (int.from_bytes(code_units[i : i + 2], "big") for i in range(0, len(code_units), 2))
        return _polynomial(0, units)
    if isinstance(key, bytes):
        return _polynomial(1, (byte - 256 if byte >= 128 else byte for byte in key))
    raise TypeError(f"no hash code for a {type(key).__name__}: set partitioner.class to one that supports it")


def _polynomial(start: int, values: Iterable[int]) -> int:
    code = start
    for value in values:
        code = (31 * code + value) & 0xFFFFFFFF
    return _signed(code)


def _signed(code: int) -> int:
    return code - (1 << 32) if code & 0x80000000 else code
