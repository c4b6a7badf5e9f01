"""The configuration of the log cleaner: ``log.cleaner.*``.

Kafka 0.10.2: core/.../log/CleanerConfig.scala; since 3.5 CleanerConfig.java · book 6.1.6
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CleanerConfig:
    """What all cleaner threads go by. Memory is shared out evenly among them."""

    num_threads: int = 1
    dedupe_buffer_size: int = 128 * 1024 * 1024
    """Bytes of all offset maps together."""
    dedupe_buffer_load_factor: float = 0.9
    """How full an offset map may become: fuller means fewer rounds, but more collisions."""
    io_buffer_size: int = 512 * 1024
    """Bytes of all I/O buffers together: half of them for reading, half for writing."""
    max_io_bytes_per_second: float = float("inf")
    backoff_ms: int = 15_000
    """How long a thread that found nothing to clean pauses."""
    enable_cleaner: bool = True

    @property
    def dedupe_buffer_size_per_thread(self) -> int:
        """Bytes of one offset map; Kafka's limit of 2 GiB for one holds here too."""
        return min(self.dedupe_buffer_size // max(1, self.num_threads), 2**31 - 1)

    @property
    def io_buffer_size_per_thread(self) -> int:
        """Bytes that a thread reads at once."""
        return max(1, self.io_buffer_size // max(1, self.num_threads) // 2)
