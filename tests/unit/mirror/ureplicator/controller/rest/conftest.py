import pytest

from tests.support.ureplicator import FakeMirror
from tests.support.ureplicator_rest import RestInterface


@pytest.fixture
def plain(mirror: FakeMirror) -> RestInterface:
    return RestInterface(mirror, more=False)


@pytest.fixture
def full(mirror: FakeMirror) -> RestInterface:
    return RestInterface(mirror, more=True)
