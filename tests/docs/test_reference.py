"""The pages of the reference work as written."""

import pytest
from tests.docs.collection import of_part
from tests.docs.reader import follow


@pytest.mark.parametrize("page", of_part("docs/reference/"))
def test_a_reader_can_follow_the_page(page):
    follow(page)
