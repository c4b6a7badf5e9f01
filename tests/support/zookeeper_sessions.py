"""Ends the ZooKeeper session of a process that was killed, so that nobody has to wait for its timeout.

Sessions can then be so long that a busy machine ends none by accident.
"""

from __future__ import annotations

from kazoo.client import KazooClient

from kafka_lite.testing.cluster_zookeeper import end_session
from kafka_lite.zookeeper.embedded.session_tracker import session_password
from tests.support.patience import patient_s

TIMEOUT_S = 30.0


def end_session_of(connect_string: str, path: str) -> None:
    """End the session that owns an ephemeral znode, also of a real ZooKeeper. A no-op without the znode."""
    client = KazooClient(connect_string, timeout=TIMEOUT_S)
    client.start(patient_s(TIMEOUT_S))
    try:
        stat = client.exists(path)
    finally:
        client.stop()
        client.close()
    if stat is not None:
        end_session(connect_string, (stat.ephemeralOwner, session_password(stat.ephemeralOwner)))
