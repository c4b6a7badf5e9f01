"""The resources that quotas of clients limit.

Kafka 2.0: clients/.../server/quota/ClientQuotaType.java; 0.10.2: core/.../server/QuotaFactory.scala (QuotaType)
· book 10.1
"""

from enum import Enum


class QuotaType(Enum):
    """The limited resource; the value is the type of its beans."""

    PRODUCE = "Produce"
    FETCH = "Fetch"
    REQUEST = "Request"
    CONTROLLER_MUTATION = "ControllerMutation"
