"""The configuration of share groups: the broker's keys ``group.share.*``, and those of single groups.

Kafka 4.1: group-coordinator/.../group/modern/share/ShareGroupConfig.java, GroupConfig.java,
ShareGroupAutoOffsetResetStrategy.java · book 5.2.1
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final, NamedTuple

from kafka_lite.common.config_def import Check, ConfigDef, ConfigError, Importance, Range, Type, ValidString

LATEST_TIMESTAMP: Final = -1
"""Stands for the end of a log, as in ListOffsets."""
EARLIEST_TIMESTAMP: Final = -2
"""Stands for the start of a log."""
BY_DURATION = "by_duration:"
_DURATION = re.compile(
    r"\+?P(?:(?P<days>[+-]?\d+)D)?(?P<time>T(?:(?P<hours>[+-]?\d+)H)?(?:(?P<minutes>[+-]?\d+)M)?"
    r"(?:(?P<seconds>[+-]?\d+(?:[.,]\d{0,9})?)S)?)?",
    re.IGNORECASE,
)
"""ISO 8601, as java.time.Duration parses it, but without a minus sign in front."""


class ShareGroupAutoOffsetResetStrategy(NamedTuple):
    """Where a group that has no state of a partition begins: ``share.auto.offset.reset``."""

    timestamp: int
    """LATEST_TIMESTAMP or EARLIEST_TIMESTAMP; anything else if ``ago_ms`` counts."""
    ago_ms: int = 0

    @classmethod
    def parse(cls, text: str) -> ShareGroupAutoOffsetResetStrategy:
        """Parse ``latest``, ``earliest`` or ``by_duration:PnDTnHnMn.nS``. Raises ValueError."""
        if text.lower() in ("latest", "earliest"):
            return cls(LATEST_TIMESTAMP if text.lower() == "latest" else EARLIEST_TIMESTAMP)
        if not text.lower().startswith(BY_DURATION):
            raise ValueError(f"unknown strategy {text!r}")
        return cls(0, _parse_duration_ms(text[len(BY_DURATION) :]))

    def timestamp_at(self, now_ms: int) -> int:
        """The timestamp of the first record to deliver, as ListOffsets asks for it."""
        return self.timestamp if self.timestamp < 0 else max(0, now_ms - self.ago_ms)


def _parse_duration_ms(text: str) -> int:
    match = _DURATION.fullmatch(text)
    if match is None or (match["time"] or "").upper() == "T":
        raise ValueError(f"{text!r} is no duration")
    units = {name: match[name] for name in ("days", "hours", "minutes", "seconds") if match[name]}
    parts = {name: float(value.replace(",", ".")) for name, value in units.items()}
    if not parts:
        raise ValueError(f"{text!r} is no duration")
    try:
        duration = timedelta(**parts)
    except OverflowError as failure:
        raise ValueError(f"{text!r} is too long") from failure
    if duration < timedelta():
        raise ValueError(f"{text!r} is negative")
    return duration // timedelta(milliseconds=1)


def _is_strategy(text: str) -> bool:
    try:
        ShareGroupAutoOffsetResetStrategy.parse(text)
    except ValueError:
        return False
    return True


LATEST: Final = ShareGroupAutoOffsetResetStrategy(LATEST_TIMESTAMP)


@dataclass(frozen=True)
class ShareGroupConfig:
    """Times and limits of share groups."""

    is_enabled: bool = False
    """Whether they are served even if the feature ``share.version`` is not finalized."""
    session_timeout_ms: int = 45_000
    heartbeat_interval_ms: int = 5_000
    max_size: int = 200
    session_timeout_limits_ms: tuple[int, int] = (45_000, 60_000)
    """The shortest and the longest that may be set for single groups."""
    heartbeat_interval_limits_ms: tuple[int, int] = (5_000, 15_000)
    record_lock_duration_ms: int = 30_000
    """How long a member may process a record before it is delivered to another one."""
    record_lock_duration_limits_ms: tuple[int, int] = (15_000, 60_000)
    delivery_count_limit: int = 5
    partition_max_record_locks: int = 2_000
    """How many records of a partition may be in flight in a group before no further ones are acquired."""
    max_share_sessions: int = 2_000
    purgatory_purge_interval: int = 1_000
    auto_offset_reset: ShareGroupAutoOffsetResetStrategy = LATEST
    committed_only: bool = False
    """Whether records of aborted transactions are left out: ``share.isolation.level=read_committed``."""


# ── single groups ─────────────────────────────────────────────────────────────────────────────────────────────────────

SHARE_SESSION_TIMEOUT = "share.session.timeout.ms"
SHARE_HEARTBEAT_INTERVAL = "share.heartbeat.interval.ms"
SHARE_RECORD_LOCK_DURATION = "share.record.lock.duration.ms"
SHARE_AUTO_OFFSET_RESET = "share.auto.offset.reset"
SHARE_ISOLATION_LEVEL = "share.isolation.level"
READ_COMMITTED, READ_UNCOMMITTED = "read_committed", "read_uncommitted"

# A table: one key, its kind on the first line, its meaning on the second.
# fmt: off
SHARE_GROUP_CONFIG_DEF = (
    ConfigDef()
    .define(SHARE_SESSION_TIMEOUT, Type.INT, 45_000, Importance.MEDIUM,
            "How long the coordinator waits for a heartbeat of a member of the share group.", Range.at_least(1))
    .define(SHARE_HEARTBEAT_INTERVAL, Type.INT, 5_000, Importance.MEDIUM,
            "The interval between heartbeats that members of the share group are told.", Range.at_least(1))
    .define(SHARE_RECORD_LOCK_DURATION, Type.INT, 30_000, Importance.MEDIUM,
            "How long a member of the share group may process a record before it is delivered to another one.",
            Range.at_least(1_000))
    .define(SHARE_AUTO_OFFSET_RESET, Type.STRING, "latest", Importance.MEDIUM,
            "Where the share group begins in a partition: `latest`, `earliest`, or `by_duration:` and how long ago, "
            "such as `by_duration:PT1H`.",
            Check(_is_strategy, "latest, earliest or by_duration:PnDTnHnMn.nS"))
    .define(SHARE_ISOLATION_LEVEL, Type.STRING, READ_UNCOMMITTED, Importance.MEDIUM,
            "Whether the share group gets records of transactions that are aborted: `read_committed` or "
            "`read_uncommitted`.",
            ValidString.in_(READ_COMMITTED, READ_UNCOMMITTED))
)
# fmt: on
"""The keys that a share group may have."""


def with_share_overrides(config: ShareGroupConfig, overrides: Mapping[str, str]) -> ShareGroupConfig:
    """The configuration of a group with these overrides, which are not compared with the broker's limits.

    Raises ConfigError for a bad value. Unknown keys are left out.
    """
    known = {name: value for name, value in overrides.items() if name in SHARE_GROUP_CONFIG_DEF}
    values = SHARE_GROUP_CONFIG_DEF.parse(known)

    def of(key: str, default: int) -> int:
        return int(values[key]) if key in known else default

    return replace(
        config,
        session_timeout_ms=of(SHARE_SESSION_TIMEOUT, config.session_timeout_ms),
        heartbeat_interval_ms=of(SHARE_HEARTBEAT_INTERVAL, config.heartbeat_interval_ms),
        record_lock_duration_ms=of(SHARE_RECORD_LOCK_DURATION, config.record_lock_duration_ms),
        auto_offset_reset=ShareGroupAutoOffsetResetStrategy.parse(values[SHARE_AUTO_OFFSET_RESET]),
        committed_only=values[SHARE_ISOLATION_LEVEL] == READ_COMMITTED,
    )


def validate_share_overrides(config: ShareGroupConfig, overrides: Mapping[str, str]) -> None:
    """Raise ConfigError for overrides that a share group cannot have on a broker with this configuration."""
    changed = with_share_overrides(config, overrides)
    for name, number, (lowest, highest) in (
        (SHARE_SESSION_TIMEOUT, changed.session_timeout_ms, config.session_timeout_limits_ms),
        (SHARE_HEARTBEAT_INTERVAL, changed.heartbeat_interval_ms, config.heartbeat_interval_limits_ms),
        (SHARE_RECORD_LOCK_DURATION, changed.record_lock_duration_ms, config.record_lock_duration_limits_ms),
    ):
        prefix, _, rest = name.partition(".")
        if name in overrides and number < lowest:
            raise ConfigError(name, number, f"it must be greater than or equal to group.{prefix}.min.{rest}: {lowest}")
        if name in overrides and number > highest:
            raise ConfigError(name, number, f"it must be less than or equal to group.{prefix}.max.{rest}: {highest}")
    if changed.session_timeout_ms <= changed.heartbeat_interval_ms:
        reason = f"it must be greater than {SHARE_HEARTBEAT_INTERVAL}"
        raise ConfigError(SHARE_SESSION_TIMEOUT, changed.session_timeout_ms, reason)
