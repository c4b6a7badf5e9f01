"""The error that a client gets for an item of an administrative request.

Kafka 0.10.2: core/.../server/AdminManager.scala (the catch clauses), clients/.../common/requests/ApiError.java
· book 7.1.3
"""

from __future__ import annotations

import logging

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.zookeeper.zk_errors import ZkConnectionError

logger = logging.getLogger(__name__)

STOPPING = "this broker is shutting down"


def api_error(error: Exception, doing: str) -> ApiError:
    """The error for the client. An error that the client did not cause is logged with a traceback."""
    if isinstance(error, ApiError):
        logger.info("Error %s: %s", doing, error)
        return error
    if isinstance(error, ZkConnectionError):  # of a client that is closed: else it would still be waiting
        logger.info("Error %s: %s", doing, error)
        return Errors.NOT_CONTROLLER.exception(STOPPING)
    logger.error("Error %s", doing, exc_info=error)
    return Errors.UNKNOWN_SERVER_ERROR.exception()
