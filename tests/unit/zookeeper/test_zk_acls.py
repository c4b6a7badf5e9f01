"""The list of each node, by its path."""

from __future__ import annotations

import pytest
from kazoo.security import CREATOR_ALL_ACL, OPEN_ACL_UNSAFE, READ_ACL_UNSAFE

from kafka_lite.zookeeper.zk_acls import SECURE_ROOT_PATHS, default_acls

READABLE = [*CREATOR_ALL_ACL, *READ_ACL_UNSAFE]


@pytest.mark.parametrize(
    ("path", "acls"),
    [
        ("/brokers/ids/0", READABLE),
        ("/config/topics/t", READABLE),
        ("/config/users", CREATOR_ALL_ACL),
        ("/config/users/alice/clients/c", CREATOR_ALL_ACL),
        ("/config/brokers/0", CREATOR_ALL_ACL),
        ("/delegation_token/tokens/x", CREATOR_ALL_ACL),
        ("/delegation_token/token_changes", READABLE),
        ("/consumers", OPEN_ACL_UNSAFE),
        ("/consumers/g", READABLE),
    ],
)
def test_nobody_else_writes_and_secrets_are_not_read(path: str, acls: list[object]) -> None:
    assert default_acls(True, path) == list(acls)
    assert default_acls(False, path) == list(OPEN_ACL_UNSAFE)


def test_no_root_is_listed_twice() -> None:
    assert len(set(SECURE_ROOT_PATHS)) == len(SECURE_ROOT_PATHS)
