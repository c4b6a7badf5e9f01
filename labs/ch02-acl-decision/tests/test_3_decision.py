"""Task 3: the decision."""

import pytest


@pytest.mark.points(8, task=3)
def test_something_must_allow_it(authorizer):
    """alice may READ orders"""
    lists = authorizer(("orders", "alice may READ"))
    assert lists.may("READ") is True, "an entry allows it"
    assert lists.may("WRITE") is False, "no entry allows it"
    assert lists.may("READ", user="bob") is False, "the entry is about alice"
    assert authorizer(("ord~", "* may ALL")).may("DELETE"), "a prefix and ALL are enough"


@pytest.mark.points(8, task=3)
def test_what_denies_wins(authorizer):
    """Denials on the name, a prefix and *"""
    for where in ("orders", "ord~", "*"):
        lists = authorizer(("orders", "alice may ALL"), (where, "* may not READ"))
        assert not lists.may("READ"), f"what denies wins, on {where} too"
        assert lists.may("WRITE"), "it denies Read only"
    lists = authorizer(("orders", "alice may READ"), ("orders", "bob may not READ"))
    assert lists.may("READ"), "it is bob who is denied"


@pytest.mark.points(8, task=3)
def test_what_a_permission_implies(authorizer):
    """DESCRIBE and DESCRIBE_CONFIGS"""
    for operation in ("READ", "WRITE", "DELETE", "ALTER"):
        lists = authorizer(("orders", f"alice may {operation}"))
        assert lists.may("DESCRIBE"), f"who may {operation} may describe"
        assert not lists.may("DESCRIBE_CONFIGS"), f"who may {operation} may not see the configuration"
    assert authorizer(("orders", "alice may ALTER_CONFIGS")).may("DESCRIBE_CONFIGS"), "to alter it is to see it"
    assert not authorizer(("orders", "alice may DESCRIBE")).may("READ"), "the implication has one direction"
    lists = authorizer(("orders", "alice may ALL"), ("orders", "alice may not READ"))
    assert lists.may("DESCRIBE"), "a denial implies nothing: who may not read may still describe"
    lists = authorizer(("orders", "alice may READ"), ("orders", "alice may not DESCRIBE"))
    assert not lists.may("DESCRIBE"), "Describe itself is denied, and what denies wins"


@pytest.mark.points(6, task=3)
def test_no_entry_at_all(authorizer):
    """allow.everyone.if.no.acl.found"""
    assert authorizer().may("READ") is False, "no entry, and the configuration does not allow everyone"
    assert authorizer(everyone=True).may("READ") is True, "no entry: as configured"
    lists = authorizer(("orders", "bob may READ"), everyone=True)
    assert not lists.may("READ"), (
        "there is an entry about orders, though not about alice: the configuration does not count"
    )
    assert lists.may("READ", name="other"), "about other there is none"
