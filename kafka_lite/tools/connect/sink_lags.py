"""How far sink connectors are behind the ends of their topics · book 8.3.1"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafka_lite.tools.admin.command_config import NO_CONFIGS, new_admin_channel
from kafka_lite.tools.admin.partition_offsets import LATEST
from kafka_lite.tools.common.tool_errors import ToolError
from kafka_lite.tools.groups.consumer_group_service import ConsumerGroupService

TIMEOUT_MS = 5_000


def sink_lags(
    bootstrap_servers: str, connectors: Iterable[str], configs: Mapping[str, object] = NO_CONFIGS
) -> dict[str, int]:
    """Connector -> how many records its tasks have not committed yet. Omits those that have committed nothing.

    The brokers know, so this works beside workers of every version. ``configs``: client properties. Raises
    ToolError, ConfigError.
    """
    try:
        with new_admin_channel(bootstrap_servers, {"request.timeout.ms": TIMEOUT_MS, **configs}) as channel:
            groups = ConsumerGroupService(channel, TIMEOUT_MS)
            committed = {name: groups.committed_offsets(f"connect-{name}") for name in connectors}
            partitions = {partition for offsets in committed.values() for partition in offsets}
            ends = groups.log_offsets(partitions, LATEST)
    except ConnectionError as error:
        raise ToolError(str(error)) from error
    return {
        name: sum(max(ends[partition] - offset, 0) for partition, offset in offsets.items() if partition in ends)
        for name, offsets in committed.items()
        if offsets
    }
