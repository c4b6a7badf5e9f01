"""Mirrors the topics that both clusters have, without being told: new ones are added, and grown ones expanded.

    source and destination have it, nobody mirrors it         add
    mirrored, with another number of partitions there         expand (fewer: logged, and left as it is)
    on the blacklist, or its whole name matches the pattern   left alone

The blacklist is in ZooKeeper, so that it outlives the controller. A topic that is deleted by REST is put on it.

uReplicator kafka-0.10.2.1: uReplicator-Controller/.../mirrormaker/controller/core/AutoTopicWhitelistingManager.java
(AutoTopicWhitelistingManager) · book 8.2.2
"""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from kafka_lite.common.scheduler import Scheduler
from kafka_lite.mirror.helix.helix_errors import HelixError
from kafka_lite.mirror.ureplicator.controller.controller_errors import ControllerError
from kafka_lite.mirror.ureplicator.controller.helix_mirror_maker_manager import HelixMirrorMakerManager
from kafka_lite.mirror.ureplicator.controller.kafka_broker_topic_observer import KafkaBrokerTopicObserver
from kafka_lite.mirror.ureplicator.helix_names import blacklisted_topics

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Whitelisting:
    """When, and what not."""

    pattern_to_exclude: str = ""
    refresh_time_s: float = 600
    init_wait_time_s: float = 120


def candidate_topics(
    source: Mapping[str, int],
    destination: Collection[str],
    mirrored: Mapping[str, int],
    blacklist: Collection[str],
    pattern_to_exclude: str,
) -> dict[str, int]:
    """The topics to add or to expand, with their partitions in the source."""
    new = {topic for topic in source if topic in destination and topic not in mirrored}
    changed = {topic for topic, number in mirrored.items() if source.get(topic, number) != number}
    return {
        topic: source[topic]
        for topic in sorted(new | changed)
        if topic not in blacklist and not re.fullmatch(pattern_to_exclude, topic)
    }


class AutoTopicWhitelistingManager:
    """Compares the clusters time and again, while this controller is the leader."""

    def __init__(
        self,
        source: KafkaBrokerTopicObserver,
        destination: KafkaBrokerTopicObserver,
        manager: HelixMirrorMakerManager,
        scheduler: Scheduler,
        whitelisting: Whitelisting,
    ) -> None:
        self._source = source
        self._destination = destination
        self._manager = manager
        self._scheduler = scheduler
        self._whitelisting = whitelisting
        self._blacklist = blacklisted_topics(manager.paths)

    def start(self) -> None:
        """Compare after the wait, and then at each refresh."""
        self._manager.accessor.zk.ensure_path(self._blacklist)
        wait_s = min(self._whitelisting.init_wait_time_s, self._whitelisting.refresh_time_s)
        self._scheduler.schedule(
            "whitelist-topics", self.run, delay_ms=wait_s * 1000, period_ms=self._whitelisting.refresh_time_s * 1000
        )

    def run(self) -> None:
        """Add and expand what the clusters have. One topic that cannot be mirrored hinders no other."""
        if not self._manager.is_leader:
            logger.debug("Not leader, skip auto topic whitelisting!")
            return
        mirrored = {topic: state.num_partitions for topic, state in self._manager.ideal_states().items()}
        candidates = candidate_topics(
            self._source.topics(),
            self._destination.topics(),
            mirrored,
            self.blacklisted(),
            self._whitelisting.pattern_to_exclude,
        )
        for topic, number in candidates.items():
            try:
                self._mirror(topic, number, mirrored.get(topic))
            except (ControllerError, HelixError) as error:
                logger.error("%s is not mirrored now: %s", topic, error)

    def _mirror(self, topic: str, number: int, before: int | None) -> None:
        if before is None:
            logger.info("Trying to whitelist topic: %s with %d partitions", topic, number)
            self._manager.add_topic_to_mirror_maker(topic, number)
        elif number > before:
            logger.info("Trying to expand topic: %s with %d partitions", topic, number)
            self._manager.expand_topic_in_mirror_maker(topic, number)
        else:
            logger.warning("%s has %d partitions in the source, but is mirrored with %d", topic, number, before)

    # ----------------------------------------------------------------------------------------------------- blacklist

    def blacklisted(self) -> list[str]:
        """The topics on the blacklist, by name."""
        return list(self._manager.accessor.children(self._blacklist))

    def add_into_blacklist(self, topic: str) -> None:
        """Leave a topic alone from now on."""
        self._manager.accessor.zk.ensure_path(f"{self._blacklist}/{topic}")
        logger.info("topic=%s is added to blacklist on zk", topic)

    def remove_from_blacklist(self, topic: str) -> None:
        """Mirror a topic again if both clusters have it."""
        self._manager.accessor.zk.delete_recursive(f"{self._blacklist}/{topic}")
        logger.info("topic=%s is removed from blacklist on zk", topic)
