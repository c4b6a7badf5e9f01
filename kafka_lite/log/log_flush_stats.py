"""How often segments are forced to disk, and how long that takes.

Kafka 0.10.2: core/.../log/LogSegment.scala (LogFlushStats) · book 6.1.4
"""

from __future__ import annotations

from kafka_lite.common.time import SYSTEM_TIME
from kafka_lite.metrics.timer import Timer

log_flush_timer = Timer(SYSTEM_TIME)
"""Of all segments of this process: a single disk, or the file system, is what makes them wait for each other."""
