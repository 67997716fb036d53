"""The first pages work as written."""

import pytest
from tests.docs.collection import of_part
from tests.docs.reader import follow


@pytest.mark.parametrize("page", of_part("docs/start/"))
def test_a_reader_can_follow_the_page(page):
    follow(page)
