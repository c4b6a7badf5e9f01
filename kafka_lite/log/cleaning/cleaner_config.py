"""The configuration of the log cleaner: ``log.cleaner.*``.

Kafka 0.10.2: core/.../log/CleanerConfig.scala; since 3.5 CleanerConfig.java · book 6.1.6
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CleanerConfig:
    """Configuration of the cleaner threads, which share the memory evenly."""

    num_threads: int = 1
    dedupe_buffer_size: int = 128 * 1024 * 1024
    """Total size of all offset maps, in bytes."""
    dedupe_buffer_load_factor: float = 0.9
    """How full an offset map may become: a higher factor means fewer rounds but more collisions."""
    io_buffer_size: int = 512 * 1024
    """Total size of all I/O buffers, in bytes: half for reading, half for writing."""
    max_io_bytes_per_second: float = float("inf")
    backoff_ms: int = 15_000
    """How long a thread pauses if there is nothing to clean."""
    enable_cleaner: bool = True

    @property
    def dedupe_buffer_size_per_thread(self) -> int:
        """Size of one offset map, in bytes; at most 2 GiB, as in Kafka."""
        return min(self.dedupe_buffer_size // max(1, self.num_threads), 2**31 - 1)

    @property
    def io_buffer_size_per_thread(self) -> int:
        """Number of bytes that a thread reads at once."""
        return max(1, self.io_buffer_size // max(1, self.num_threads) // 2)
