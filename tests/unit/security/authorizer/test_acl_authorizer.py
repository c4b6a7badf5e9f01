from __future__ import annotations

import logging
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_lite.common.errors import Errors
from kafka_lite.common.security.kafka_principal import KafkaPrincipal
from kafka_lite.common.time import MockTime
from kafka_lite.security.authorizer.acl_authorizer import MAX_UPDATE_RETRIES, AclAuthorizer, parse_super_users
from kafka_lite.security.authorizer.acl_binding import (
    AccessControlEntry,
    AccessControlEntryFilter,
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
)
from kafka_lite.security.authorizer.acl_cache import AclCache
from kafka_lite.security.authorizer.acl_store import AclDataError, VersionedAcls
from kafka_lite.security.authorizer.authorizer import Action, AuthorizableRequestContext
from kafka_lite.security.authorizer.resource_pattern import (
    PatternType,
    ResourcePattern,
    ResourcePatternFilter,
    ResourceType,
)
from tests.support.examples import examples

ALICE, BOB = KafkaPrincipal("User", "alice"), KafkaPrincipal("User", "bob")
TOPIC, GROUP = ResourceType.TOPIC, ResourceType.GROUP
LITERAL, PREFIXED = PatternType.LITERAL, PatternType.PREFIXED
ALLOW, DENY = AclPermissionType.ALLOW, AclPermissionType.DENY
READ, WRITE, DESCRIBE, ALL = AclOperation.READ, AclOperation.WRITE, AclOperation.DESCRIBE, AclOperation.ALL
EVERYTHING = AclBindingFilter(ResourcePatternFilter(ResourceType.ANY, None, PatternType.ANY))


class MemoryStore:
    """ZooKeeper's part, in memory, with writers that come between."""

    def __init__(self) -> None:
        self.nodes: dict[ResourcePattern, VersionedAcls] = {}
        self.announced: list[ResourcePattern] = []
        self.lost_races = 0
        self.unreadable: set[ResourcePattern] = set()

    def patterns(self) -> Iterable[ResourcePattern]:
        return list(self.nodes)

    def read(self, pattern: ResourcePattern) -> VersionedAcls:
        if pattern in self.unreadable:
            raise AclDataError("not access control lists")
        return self.nodes.get(pattern, VersionedAcls())

    def write(
        self, pattern: ResourcePattern, entries: frozenset[AccessControlEntry], version: int | None
    ) -> int | None:
        if self.lost_races:
            self.lost_races -= 1
            return None
        if self.nodes.get(pattern, VersionedAcls()).version != version:
            return None
        if not entries:
            del self.nodes[pattern]
            return 0
        new = 0 if version is None else version + 1
        self.nodes[pattern] = VersionedAcls(entries, new)
        return new

    def announce(self, pattern: ResourcePattern) -> None:
        self.announced.append(pattern)


def binding(
    name: str,
    principal: str = "User:alice",
    operation: AclOperation = READ,
    permission: AclPermissionType = ALLOW,
    kind: PatternType = LITERAL,
    host: str = "*",
    resource_type: ResourceType = TOPIC,
) -> AclBinding:
    entry = AccessControlEntry(principal, host, operation, permission)
    return AclBinding(ResourcePattern(resource_type, name, kind), entry)


def authorizer(*bindings: AclBinding, store: MemoryStore | None = None, **settings: object) -> AclAuthorizer:
    found = AclAuthorizer(store or MemoryStore(), MockTime(), **settings)  # type: ignore[arg-type]
    assert not any(found.create_acls(bindings))
    return found


def allows(
    of: AclAuthorizer,
    name: str,
    operation: AclOperation = READ,
    principal: KafkaPrincipal = ALICE,
    host: str = "10.0.0.1",
    resource_type: ResourceType = TOPIC,
) -> bool:
    context = AuthorizableRequestContext(principal, host, "FETCH")
    return of.authorize(context, [Action(operation, ResourcePattern(resource_type, name))])[0]


# ── Decisions ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_without_an_entry_nobody_may_do_anything() -> None:
    assert not allows(authorizer(), "t")


def test_without_an_entry_everyone_may_if_configured_so_until_there_is_one() -> None:
    open_to_all = authorizer(binding("secret", "User:bob"), allow_everyone_if_no_acl_is_found=True)

    assert allows(open_to_all, "t")
    assert not allows(open_to_all, "secret")
    assert allows(open_to_all, "secret", principal=BOB)


def test_an_entry_names_principal_operation_host_and_resource() -> None:
    found = authorizer(binding("t", host="10.0.0.1"))

    assert allows(found, "t")
    assert not allows(found, "t", principal=BOB)
    assert not allows(found, "t", principal=KafkaPrincipal("Group", "alice"))
    assert not allows(found, "t", operation=WRITE)
    assert not allows(found, "t", host="10.0.0.2")
    assert not allows(found, "t2")
    assert not allows(found, "t", resource_type=GROUP)


@pytest.mark.parametrize(
    "wide",
    [
        binding("*"),
        binding("t", "User:*"),
        binding("t", operation=ALL),
        binding("t", kind=PREFIXED),
        binding("top", kind=PREFIXED),
        binding("topic", kind=PREFIXED),
    ],
)
def test_wildcards_and_prefixes_cover(wide: AclBinding) -> None:
    name = "topic" if wide.pattern.pattern_type is PREFIXED else "t"
    assert allows(authorizer(wide), name)
    assert not allows(authorizer(wide), "x") or wide.pattern.name == "*"


def test_a_denial_wins_however_wide_the_permission_is() -> None:
    found = authorizer(
        binding("*", "User:*", ALL), binding("t", permission=DENY), binding("se", kind=PREFIXED, permission=DENY)
    )

    assert not allows(found, "t")
    assert not allows(found, "secret")
    assert allows(found, "t", principal=BOB)
    assert allows(found, "t", operation=WRITE)
    assert allows(found, "other")


@pytest.mark.parametrize("operation", [READ, WRITE, AclOperation.DELETE, AclOperation.ALTER])
def test_an_operation_implies_describe(operation: AclOperation) -> None:
    assert allows(authorizer(binding("t", operation=operation)), "t", DESCRIBE)


def test_altering_configs_implies_describing_them_and_nothing_else_is_implied() -> None:
    found = authorizer(binding("t", operation=AclOperation.ALTER_CONFIGS))

    assert allows(found, "t", AclOperation.DESCRIBE_CONFIGS)
    assert not allows(found, "t", DESCRIBE)
    assert not allows(authorizer(binding("t", operation=DESCRIBE)), "t")


def test_a_denied_operation_does_not_deny_describe() -> None:
    found = authorizer(binding("t", operation=DESCRIBE), binding("t", permission=DENY))

    assert allows(found, "t", DESCRIBE)
    assert not allows(found, "t", READ)


def test_super_users_need_no_entry_and_cannot_be_denied() -> None:
    found = authorizer(binding("*", permission=DENY), super_users=parse_super_users("User:bob; User:alice"))

    assert allows(found, "t")
    assert parse_super_users("") == frozenset()
    with pytest.raises(ValueError, match="principalType:principalName"):
        parse_super_users("alice")


def test_only_literal_resources_can_be_asked_for() -> None:
    action = Action(READ, ResourcePattern(TOPIC, "t", PREFIXED))
    with pytest.raises(ValueError, match="Only literal resources"):
        authorizer().authorize(AuthorizableRequestContext(ALICE, "h"), [action])


NAMES = st.sampled_from(["*", "a", "ab", "abc", "b"])
BINDINGS = st.builds(
    binding,
    NAMES,
    st.sampled_from(["User:alice", "User:bob", "User:*", "Group:alice"]),
    st.sampled_from([READ, WRITE, DESCRIBE, ALL, AclOperation.ALTER]),
    st.sampled_from([ALLOW, DENY]),
    st.sampled_from([LITERAL, PREFIXED]),
    st.sampled_from(["*", "h1"]),
    st.sampled_from([TOPIC, GROUP]),
)


def naive(bindings: list[AclBinding], principal: str, host: str, operation: AclOperation, name: str) -> bool | None:
    """The rules as one says them, over all bindings; None if there is none about the topic."""
    about = [
        b.entry
        for b in bindings
        if b.pattern.resource_type is TOPIC
        and (
            name.startswith(b.pattern.name)
            if b.pattern.pattern_type is PREFIXED
            else b.pattern.name == name or b.pattern.name == "*"
        )
    ]
    mine = [e for e in about if e.principal in (principal, "User:*") and e.host in (host, "*")]
    implying = {READ, WRITE, AclOperation.DELETE, AclOperation.ALTER} if operation is DESCRIBE else set()
    if not about:
        return None
    if any(e.permission_type is DENY and e.operation in (operation, ALL) for e in mine):
        return False
    return any(e.permission_type is ALLOW and e.operation in {operation, ALL, *implying} for e in mine)


@settings(max_examples=examples(100))
@given(
    st.lists(BINDINGS, max_size=6),
    st.sampled_from([ALICE, BOB, KafkaPrincipal("Group", "alice")]),
    st.sampled_from(["h1", "h2"]),
    st.sampled_from([READ, WRITE, DESCRIBE]),
    NAMES,
    st.booleans(),
)
def test_decisions_are_those_of_the_naive_twin(
    bindings: list[AclBinding], principal: KafkaPrincipal, host: str, operation: AclOperation, name: str, open_: bool
) -> None:
    expected = naive(bindings, str(principal), host, operation, name)
    found = authorizer(*bindings, allow_everyone_if_no_acl_is_found=open_)

    assert allows(found, name, operation, principal, host) is (open_ if expected is None else expected)


# ── Any resource of a type ────────────────────────────────────────────────────────────────────────────────────────


def allows_any(of: AclAuthorizer, operation: AclOperation = WRITE, principal: KafkaPrincipal = ALICE) -> bool:
    return of.authorize_by_resource_type(AuthorizableRequestContext(principal, "h1"), operation, TOPIC)


@pytest.mark.parametrize(
    ("bindings", "allowed"),
    [
        ([], False),
        ([binding("a", operation=WRITE)], True),
        ([binding("a", operation=READ)], False),
        ([binding("a", operation=ALL, kind=PREFIXED)], True),
        ([binding("a", operation=WRITE, resource_type=GROUP)], False),
        ([binding("a", operation=WRITE), binding("a", operation=WRITE, permission=DENY)], False),
        ([binding("a", operation=WRITE), binding("b", operation=WRITE, permission=DENY)], True),
        ([binding("ab", operation=WRITE), binding("a", operation=WRITE, permission=DENY, kind=PREFIXED)], False),
        ([binding("a", operation=WRITE, kind=PREFIXED), binding("a", operation=ALL, permission=DENY)], True),
        (
            [
                binding("ab", operation=WRITE, kind=PREFIXED),
                binding("a", operation=WRITE, permission=DENY, kind=PREFIXED),
            ],
            False,
        ),
        ([binding("*", operation=WRITE), binding("a", operation=WRITE, permission=DENY, kind=PREFIXED)], True),
        ([binding("*", operation=WRITE), binding("*", "User:*", WRITE, DENY)], False),
    ],
)
def test_one_resource_that_is_allowed_and_not_denied_is_enough(bindings: list[AclBinding], allowed: bool) -> None:
    assert allows_any(authorizer(*bindings)) is allowed


def test_super_users_and_openness_count_for_any_resource() -> None:
    deny_all = binding("*", operation=WRITE, permission=DENY)

    assert allows_any(authorizer(deny_all, super_users=frozenset({ALICE})))
    assert allows_any(authorizer(allow_everyone_if_no_acl_is_found=True))
    assert not allows_any(authorizer(deny_all, allow_everyone_if_no_acl_is_found=True))


@settings(max_examples=examples(50))
@given(st.lists(BINDINGS, max_size=5))
def test_any_resource_agrees_with_single_ones(bindings: list[AclBinding]) -> None:
    """Of the names in use, and of one that no pattern names but ``*`` and the prefixes."""
    found = authorizer(*bindings)
    names = ["a", "ab", "abc", "b", "a~", "ab~", "abc~", "b~", "*~", "other"]
    single = any(allows(found, name, WRITE, ALICE, "h1") for name in names)

    assert not single or allows_any(found)


# ── Changes ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_bindings_are_written_announced_and_found() -> None:
    store = MemoryStore()
    found = authorizer(binding("t"), binding("t", operation=WRITE), binding("u"), store=store)

    assert sorted(store.nodes) == [ResourcePattern(TOPIC, "t"), ResourcePattern(TOPIC, "u")]
    assert store.announced == [ResourcePattern(TOPIC, "t"), ResourcePattern(TOPIC, "u")]
    assert list(found.acls(EVERYTHING)) == [binding("t"), binding("t", operation=WRITE), binding("u")]


def test_a_binding_that_is_there_is_not_announced_again() -> None:
    store = MemoryStore()
    found = authorizer(binding("t"), store=store)
    found.create_acls([binding("t")])

    assert store.announced == [ResourcePattern(TOPIC, "t")]


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (binding("a/b"), "invalid resource name: a/b"),
        (binding("t", operation=AclOperation.UNKNOWN), "unknown elements"),
        (binding("t", operation=AclOperation.ANY), "unknown elements"),
        (binding("t", permission=AclPermissionType.ANY), "unknown elements"),
        (binding("t", resource_type=ResourceType.UNKNOWN), "unknown elements"),
        (binding("t", kind=PatternType.MATCH), "unknown elements"),
    ],
)
def test_a_bad_binding_does_not_keep_the_others_out(bad: AclBinding, why: str) -> None:
    found = authorizer()

    first, second = found.create_acls([bad, binding("t")])

    assert first is not None
    assert first.error is Errors.INVALID_REQUEST
    assert why in str(first)
    assert second is None
    assert allows(found, "t")


def test_prefixed_patterns_wait_for_brokers_that_know_them() -> None:
    found = authorizer(prefixed_patterns=False)
    (error,) = found.create_acls([binding("t", kind=PREFIXED)])
    assert error is not None
    assert "inter.broker.protocol.version of 2.0" in str(error)


def test_a_change_elsewhere_is_read_when_it_is_announced() -> None:
    store = MemoryStore()
    here, there = authorizer(store=store), authorizer(store=store)
    there.create_acls([binding("t")])
    assert not allows(here, "t")

    here.changed(store.announced[-1])
    assert allows(here, "t")

    there.delete_acls([EVERYTHING])
    here.changed(store.announced[-1])
    assert not allows(here, "t")


def test_a_start_reads_all() -> None:
    store = MemoryStore()
    authorizer(binding("t"), binding("g", kind=PREFIXED, resource_type=GROUP), store=store)
    late = authorizer(store=store)
    late.load()

    assert allows(late, "t")
    assert allows(late, "g7", resource_type=GROUP)


def test_an_update_that_loses_a_race_is_tried_again_on_what_is_there_now() -> None:
    store = MemoryStore()
    here = authorizer(binding("t"), store=store)
    there = authorizer(store=store)
    there.create_acls([binding("t", operation=WRITE)])  # ``here`` has not heard of it

    here.create_acls([binding("t", operation=DESCRIBE)])

    assert {b.entry.operation for b in here.acls(EVERYTHING)} == {READ, WRITE, DESCRIBE}


def test_an_update_gives_up_after_ten_retries() -> None:
    store = MemoryStore()
    found = authorizer(store=store)
    store.lost_races = MAX_UPDATE_RETRIES
    assert found.create_acls([binding("t")]) == [None]

    store.lost_races = MAX_UPDATE_RETRIES + 1
    (error,) = found.create_acls([binding("u")])
    assert error is not None
    assert "after trying a maximum of 10 times" in str(error)


def test_a_node_that_cannot_be_read_is_an_error_and_is_not_overwritten() -> None:
    store = MemoryStore()
    found = authorizer(store=store)
    store.unreadable.add(ResourcePattern(TOPIC, "t"))

    (error,) = found.create_acls([binding("t")])

    assert error is not None
    assert ResourcePattern(TOPIC, "t") not in store.nodes
    with pytest.raises(AclDataError):
        found.changed(ResourcePattern(TOPIC, "t"))


def test_filters_delete_and_the_first_one_reports() -> None:
    store = MemoryStore()
    found = authorizer(binding("t"), binding("t", "User:bob"), binding("u"), store=store)
    alice = AclBindingFilter(EVERYTHING.pattern, AccessControlEntryFilter(principal="User:alice"))
    on_t = AclBindingFilter(ResourcePatternFilter(TOPIC, "t", LITERAL))

    first, second = found.delete_acls([alice, on_t])

    assert [result.binding for result in first] == [binding("t"), binding("u")]
    assert [result.binding for result in second] == [binding("t", "User:bob")]
    assert not any(result.error for result in first + second)
    assert not store.nodes
    assert list(found.acls(EVERYTHING)) == []


def test_a_binding_that_this_broker_has_not_heard_of_is_deleted_if_its_resource_is_named() -> None:
    store = MemoryStore()
    here = authorizer(store=store)
    authorizer(binding("t"), store=store)

    (deleted,) = here.delete_acls([AclBindingFilter(ResourcePatternFilter(TOPIC, "t", PatternType.ANY))])

    assert [result.binding for result in deleted] == [binding("t")]
    assert not store.nodes


def test_a_deletion_that_fails_is_reported_with_its_bindings() -> None:
    store = MemoryStore()
    found = authorizer(binding("t"), store=store)
    store.lost_races = MAX_UPDATE_RETRIES + 1

    ((result,),) = found.delete_acls([EVERYTHING])

    assert result.binding == binding("t")
    assert result.error is not None
    assert allows(found, "t")


# ── The audit log ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_refusals_are_logged_and_no_name_makes_a_line_of_its_own(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "kafka.authorizer.logger")
    mallory = KafkaPrincipal("User", "mallory\nPrincipal = User:admin is Allowed")

    allows(authorizer(binding("t")), "t")
    allows(authorizer(binding("t")), "t", principal=mallory)

    (record,) = caplog.records
    assert record.getMessage() == (
        r"Principal = 'User:mallory\nPrincipal = User:admin is Allowed' is Denied Operation = Read "
        "from host = 10.0.0.1 on resource = Topic:LITERAL:t for request = FETCH with resourceRefCount = 1"
    )


@pytest.mark.parametrize(
    ("allowed", "flag", "level"),
    [(True, True, 10), (True, False, 5), (False, True, 20), (False, False, 5)],
)
def test_questions_that_grant_nothing_are_logged_below_debug(
    allowed: bool, flag: bool, level: int, caplog: pytest.LogCaptureFixture
) -> None:
    found = authorizer(binding("t"))
    caplog.set_level(1, "kafka.authorizer.logger")
    action = Action(READ, ResourcePattern(TOPIC, "t"), log_if_allowed=flag, log_if_denied=flag)

    found.authorize(AuthorizableRequestContext(ALICE if allowed else BOB, "h"), [action])

    assert [record.levelno for record in caplog.records] == [level]


def test_a_snapshot_does_not_change() -> None:
    pattern = ResourcePattern(TOPIC, "a", PREFIXED)
    empty = AclCache()
    full = empty.updated(pattern, VersionedAcls(frozenset({binding("a").entry}), 0))

    assert empty.patterns() == []
    assert full.matching(TOPIC, "ab") == [binding("a").entry]
    assert full.updated(pattern, VersionedAcls()).matching(TOPIC, "ab") == []
    assert full.get(pattern) is not None
