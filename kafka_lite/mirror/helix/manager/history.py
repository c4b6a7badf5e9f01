"""The leaders that a cluster has had, and the sessions of an instance: lists that Helix shows to administrators.

Helix 0.6.9: helix-core/.../model/LeaderHistory.java (LeaderHistory),
helix-core/.../model/ParticipantHistory.java (ParticipantHistory) · book 8.2.1
"""

from __future__ import annotations

from datetime import UTC, datetime

from kafka_lite.mirror.helix.zn_record import ZNRecord

LIMIT = 10
"""Leaders, and sessions, that are kept."""


def controller_history(record: ZNRecord | None, cluster: str, controller: str, now_ms: int) -> ZNRecord:
    """With a new leader."""
    before = record or ZNRecord("HISTORY")
    entry = f"{{DATE={_date(now_ms, '%Y-%m-%d-%H:%M:%S')}, CONTROLLER={controller}, TIME={now_ms}}}"
    lists = dict(before.list_fields)
    lists["HISTORY"] = [*lists.get("HISTORY", ()), entry][-LIMIT:]
    lists[cluster] = [*lists.get(cluster, ()), controller][-LIMIT:]
    return ZNRecord(before.id, before.simple_fields, lists, before.map_fields)


def participant_history(record: ZNRecord | None, instance: str, session: str, now_ms: int) -> ZNRecord:
    """With a new session, which is not off line."""
    before = record or ZNRecord(instance)
    entry = f"{{DATE={_date(now_ms, '%Y-%m-%dT%H:%M:%S')}:{now_ms % 1000:03}, SESSION={session}, TIME={now_ms}}}"
    lists = {**before.list_fields, "HISTORY": [*before.list_fields.get("HISTORY", ()), entry][-LIMIT:]}
    return ZNRecord(instance, {**before.simple_fields, "LAST_OFFLINE_TIME": "-1"}, lists, before.map_fields)


def _date(now_ms: int, form: str) -> str:
    return datetime.fromtimestamp(now_ms / 1000, UTC).strftime(form)
