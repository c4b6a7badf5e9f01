"""FULL_AUTO: preference lists that spread a resource's replicas evenly, and move as few of them as possible.

Each replica (a partition, and a number from 0) has a preferred instance, as if all configured instances lived. Then:

1. Replicas stay where they are, preferred or not.
2. Those that are nowhere, the orphans, go to their preferred instance if it has room, else to another one with room.
3. Replicas move from instances with too many to their preferred ones, then to any with room.

The capacity of a live instance is the average, rounded down, and one more for the first ones, those that have most
replicas now. The search for room starts at an instance that follows from the replica's hash, so that orphans are
spread.

Helix 0.6.9: helix-core/.../controller/rebalancer/strategy/AutoRebalanceStrategy.java · book 8.2.2
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kafka_lite.common.utils import java_string_hash


@dataclass(frozen=True)
class Replica:
    """A replica of a partition, whichever state it gets in the end."""

    partition: str
    number: int

    def __str__(self) -> str:
        """Replicas are ordered by this text, and hashed by it as Java hashes it."""
        return f"{self.partition}|{self.number}"

    def start_index(self, instances: int) -> int:
        """Where the search for an instance with room starts."""
        return (java_string_hash(str(self)) & 0x7FFFFFFF) % instances


@dataclass
class Node:
    """An instance, with the replicas that it has got so far."""

    id: str
    live: bool = False
    capacity: int = 0
    has_ceiling_capacity: bool = False
    """Whether its capacity is the average rounded up."""
    currently_assigned: int = 0
    preferred: list[Replica] = field(default_factory=list)
    non_preferred: list[Replica] = field(default_factory=list)
    new_replicas: set[Replica] = field(default_factory=set)

    def can_add_if_capacity(self, replica: Replica) -> bool:
        """Whether it lives, and has no other replica of the partition."""
        others = (*self.preferred, *self.non_preferred)
        return self.live and all(other.partition != replica.partition for other in others)

    def can_add(self, replica: Replica) -> bool:
        """Whether it has room, too."""
        return self.currently_assigned < self.capacity and self.can_add_if_capacity(replica)

    def add(self, replica: Replica, *, preferred: bool = False) -> None:
        """Give it a replica that it did not have before."""
        self.currently_assigned += 1
        (self.preferred if preferred else self.non_preferred).append(replica)
        self.new_replicas.add(replica)

    def steal(self, donor: Node, replica: Replica) -> None:
        """Give it a replica, together with the capacity of an instance that cannot take it."""
        donor.has_ceiling_capacity, self.has_ceiling_capacity = False, True
        donor.capacity -= 1
        self.capacity += 1
        self.add(replica)


class AutoRebalanceStrategy:
    """Computes the preference lists of one resource."""

    def __init__(
        self, partitions: Sequence[str], counts: Mapping[str, int], max_per_instance: int | None = None
    ) -> None:
        """``counts`` has the replicas of a partition per state, most important state first."""
        self._partitions = partitions
        self._states = [state for state, count in counts.items() for _ in range(count)]
        self._max_per_instance = max_per_instance
        self._nodes: dict[str, Node] = {}
        self._live: list[Node] = []
        self._preferred: dict[Replica, Node] = {}
        self._at_preferred: dict[Replica, Node] = {}
        self._elsewhere: dict[Replica, Node] = {}

    def preference_lists(
        self, instances: Sequence[str], live: Sequence[str], mapping: Mapping[str, Collection[str]]
    ) -> dict[str, list[str]]:
        """The instances of each partition, best one first; no list at all if nobody lives.

        ``instances`` are all that are enabled; ``mapping`` has the instances that have, or are about to get, a replica.
        """
        if not live:
            return {}
        known = {partition: sorted(set(mapping.get(partition, ())) & set(instances)) for partition in self._partitions}
        self._set_capacities(sorted(instances), live, known)
        self._place_preferred(sorted(instances))
        self._keep_at_preferred(known)
        self._keep_elsewhere(known)
        orphans = self._assign_orphans()
        self._move_to_preferred()
        self._move_excess()
        self._force_orphans(orphans)
        return self._result()

    # ------------------------------------------------------------------------------------------------ where they are

    def _set_capacities(self, instances: Sequence[str], live: Sequence[str], known: Mapping[str, list[str]]) -> None:
        self._nodes = {name: Node(name) for name in instances}
        counts = Counter(instance for of_partition in known.values() for instance in of_partition)
        self._live = [self._nodes[name] for name in sorted(live, key=lambda name: (-counts[name], name))]
        floor, remainder = divmod(len(self._states) * len(self._partitions), len(self._live))
        limit = self._max_per_instance
        for node in self._live:
            node.live = True
            node.capacity = min(floor, limit) if limit else floor
            if remainder > 0 and (limit is None or node.capacity < limit):
                node.capacity += 1
                remainder -= 1
                node.has_ceiling_capacity = True

    def _place_preferred(self, instances: Sequence[str]) -> None:
        """Evenly, and no two replicas of a partition on one instance if there are enough of them."""
        n, partitions = len(instances), len(self._partitions)
        for index, partition in enumerate(self._partitions):
            for number in range(len(self._states)):
                place = index + number
                if n >= partitions:
                    place = index + number * partitions
                if n == partitions:
                    place = place % n + number
                self._preferred[Replica(partition, number)] = self._nodes[instances[place % n]]

    def _keep_at_preferred(self, known: Mapping[str, list[str]]) -> None:
        for partition, instances in known.items():
            for name in instances:
                node = self._nodes[name]
                node.currently_assigned += 1
                for replica in self._replicas_of(partition):
                    if replica not in self._at_preferred and self._preferred[replica] is node:
                        self._at_preferred[replica] = node
                        node.preferred.append(replica)
                        break

    def _keep_elsewhere(self, known: Mapping[str, list[str]]) -> None:
        for partition, instances in known.items():
            for name in instances:
                node = self._nodes[name]
                if any(replica.partition == partition for replica in node.preferred):
                    continue
                for replica in self._replicas_of(partition):
                    taken = replica in self._at_preferred or replica in self._elsewhere
                    if not taken and self._preferred[replica] is not node:
                        self._elsewhere[replica] = node
                        node.non_preferred.append(replica)
                        break

    def _replicas_of(self, partition: str) -> Iterator[Replica]:
        return (Replica(partition, number) for number in range(len(self._states)))

    # ----------------------------------------------------------------------------------------------- where they go to

    def _assign_orphans(self) -> list[Replica]:
        """Place the orphans; returns those for which there was no room."""
        orphans = sorted(self._preferred.keys() - self._at_preferred.keys() - self._elsewhere.keys(), key=str)
        return [replica for replica in orphans if not (self._place(replica) or self._make_room(replica))]

    def _place(self, replica: Replica) -> bool:
        preferred = self._preferred[replica]
        if preferred.can_add(replica):
            preferred.add(replica, preferred=True)
            return True
        for receiver in self._from_start(replica):
            if receiver.can_add(replica):
                receiver.add(replica)
                return True
        return False

    def _make_room(self, replica: Replica) -> bool:
        """Move the capacity of an instance that has room, but cannot take the replica, to one that can and has none."""
        donor = acceptor = None
        for node in self._from_start(replica):
            fits, room = node.can_add_if_capacity(replica), node.capacity - node.currently_assigned
            if donor is None and node.has_ceiling_capacity and room > 0 and not fits:
                donor = node
            elif acceptor is None and not node.has_ceiling_capacity and room == 0 and fits:
                acceptor = node
        if donor is None or acceptor is None:
            return False
        acceptor.steal(donor, replica)
        return True

    def _from_start(self, replica: Replica) -> list[Node]:
        start = replica.start_index(len(self._live))
        return self._live[start:] + self._live[:start]

    def _move_to_preferred(self) -> None:
        for replica, donor in sorted(self._elsewhere.items(), key=lambda entry: str(entry[0])):
            receiver = self._preferred[replica]
            if donor.capacity < donor.currently_assigned and receiver.can_add(replica):
                donor.currently_assigned -= 1
                donor.non_preferred.remove(replica)
                donor.new_replicas.discard(replica)
                receiver.add(replica, preferred=True)

    def _move_excess(self) -> None:
        for donor in self._live:
            for replica in sorted(donor.non_preferred, key=str):
                if donor.capacity >= donor.currently_assigned:
                    break
                receiver = next((node for node in self._from_start(replica) if node.can_add(replica)), None)
                if receiver is not None:
                    receiver.currently_assigned += 1
                    receiver.non_preferred.append(replica)
                    donor.currently_assigned -= 1
                    donor.non_preferred.remove(replica)

    def _force_orphans(self, orphans: Sequence[Replica]) -> None:
        """Rather an instance with too many replicas than a partition with too few."""
        for replica in orphans:
            limit = self._max_per_instance
            takers = (node for node in self._live if limit is None or node.currently_assigned < limit)
            fitting = [node for node in takers if node.can_add_if_capacity(replica)]
            if fitting:
                fitting[-1].add(
                    replica
                )  # Helix compares with a minimum that it never updates, and so takes the last one

    # --------------------------------------------------------------------------------------------------------- result

    def _result(self) -> dict[str, list[str]]:
        """Instances that have a replica already come before new ones, preferred before others."""
        existing: dict[str, list[str]] = {partition: [] for partition in self._partitions}
        new: dict[str, list[str]] = {partition: [] for partition in self._partitions}
        placed = [(node, replica) for node in self._live for replica in node.preferred]
        placed += [(node, replica) for node in self._live for replica in node.non_preferred]
        for node, replica in placed:
            (new if replica in node.new_replicas else existing)[replica.partition].append(node.id)
        counts: Counter[tuple[str, str]] = Counter()
        first = {partition: self._normalized(existing[partition], counts) for partition in sorted(existing)}
        return {partition: first[partition] + self._normalized(new[partition], counts) for partition in sorted(new)}

    def _normalized(self, instances: Sequence[str], counts: Counter[tuple[str, str]]) -> list[str]:
        """The list in an order that gives each state to the instance that has it least often so far."""
        waiting, result = list(instances), []
        for state in self._states[: len(instances)]:
            chosen = min(waiting, key=lambda instance: counts[state, instance])
            waiting.remove(chosen)
            counts[state, chosen] += 1
            result.append(chosen)
        return result
