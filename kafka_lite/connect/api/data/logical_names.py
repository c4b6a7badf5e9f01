"""The schema names of the logical types, and the Python classes of their values.

Kafka 0.10.2: connect/api/.../connect/data/ConnectSchema.java (LOGICAL_TYPE_CLASSES) · book 8.3.3
"""

from __future__ import annotations

import datetime
import decimal
from typing import Final

DECIMAL: Final = "org.apache.kafka.connect.data.Decimal"
DATE: Final = "org.apache.kafka.connect.data.Date"
TIME: Final = "org.apache.kafka.connect.data.Time"
TIMESTAMP: Final = "org.apache.kafka.connect.data.Timestamp"

LOGICAL_TYPE_CLASSES: Final[dict[str, type]] = {
    DECIMAL: decimal.Decimal,
    DATE: datetime.date,
    TIME: datetime.time,
    TIMESTAMP: datetime.datetime,
}
