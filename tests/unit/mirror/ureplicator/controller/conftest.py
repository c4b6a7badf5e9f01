from collections.abc import Iterator

import pytest

from tests.support.ureplicator import FakeMirror, fake_mirror


@pytest.fixture
def mirror() -> Iterator[FakeMirror]:
    with fake_mirror() as mirror:
        yield mirror
