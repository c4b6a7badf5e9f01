"""Task 4: any resource at all."""

import logging

import pytest


@pytest.mark.points(6, task=4)
def test_one_is_enough(authorizer):
    """alice may WRITE to orders"""
    lists = authorizer(("orders", "alice may WRITE"), ("other", "bob may READ"))
    assert lists.may_any("WRITE") is True, "there is a topic that she may write to"
    assert lists.may_any("READ") is False, "no operation implies another here, and only bob may read"
    assert lists.may_any("WRITE", user="bob") is False, "bob may not write anywhere"
    assert lists.may_any("WRITE", resource_type="GROUP") is False, "a topic is no group"
    assert authorizer(super_users=["alice"]).may_any("WRITE"), "a super user needs no entry"
    assert authorizer(everyone=True).may_any("WRITE"), "there is no entry: as configured"
    assert authorizer().may_any("WRITE") is False, "no entry, and the configuration does not allow everyone"


@pytest.mark.points(10, task=4)
def test_a_denial_that_is_as_wide(authorizer):
    """Permissions and denials on names, prefixes and *"""
    for allowed, denied, expected in (
        ("orders", "orders", False),
        ("orders", "other", True),
        ("orders", "ord~", False),
        ("orders", "orders~", False),
        ("orders", "x~", True),
        ("ord~", "orders", True),
        ("ord~", "ord~", False),
        ("ord~", "o~", False),
        ("ord~", "orders~", True),
        ("ord~", "ord", True),
        ("*", "orders", True),
        ("*", "o~", True),
        ("*", "*", False),
        ("*", "*~", True),
        ("orders", "*", False),
        ("ord~", "*", False),
    ):
        lists = authorizer((allowed, "alice may WRITE"), (denied, "* may not WRITE"))
        verdict = "is left" if expected else "is covered by the denial"
        assert lists.may_any("WRITE") is expected, f"allowed {allowed}, denied {denied}: the permission {verdict}"
    for number in range(12):  # sets have no order: so many, that no luck helps
        one, other = (f"one-{number}", "alice may WRITE"), (f"other-{number}", "alice may WRITE")
        denied = (other[0], "alice may not WRITE")
        assert authorizer(one, other, denied).may_any("WRITE"), "one permission that no denial covers is enough"
        denials = ((f"x-{number}", "* may not WRITE"), (one[0], "* may not WRITE"))
        assert not authorizer(one, *denials).may_any("WRITE"), "any of the denials may cover the permission"
    lists = authorizer(("*", "* may not WRITE"), everyone=True)
    assert not lists.may_any("WRITE"), "a denial of the literal * comes before allow.everyone.if.no.acl.found"
    assert authorizer(("*", "* may not WRITE"), super_users=["alice"]).may_any("WRITE"), "super users come first"


@pytest.mark.points(4, task=4)
def test_the_audit_log(authorizer, caplog):
    """A line for each decision of the lists"""
    caplog.set_level(logging.DEBUG, "kafka.authorizer.logger")
    authorizer(("orders", "alice may WRITE")).may_any("WRITE")
    authorizer(("orders", "alice may WRITE")).may_any("READ")
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 2, f"two decisions are two lines of the audit log, not {len(said)}"
    assert "Allowed Operation = Write" in said[0], f"the line says what was allowed: {said[0]}"
    assert "Denied Operation = Read" in said[1], f"the line says what was denied: {said[1]}"
