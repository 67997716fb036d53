"""Every second guide works as written; the tests of a file run one after the other."""

import pytest
from tests.docs.collection import of_part
from tests.docs.reader import follow


@pytest.mark.parametrize("page", of_part("docs/guides/")[::2])
def test_a_reader_can_follow_the_page(page):
    follow(page)
