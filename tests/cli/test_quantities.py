import pytest

from neardup.cli.terminal import count, size


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 rows"), (1, "1 row"), (2, "2 rows"), (1234567, "1,234,567 rows")]
)
def test_count(number, said):
    assert count(number, "row") == said


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (999_949, "999.9 kB"),
        (999_950, "1.0 MB"),
        (56_700_000, "56.7 MB"),
        (8_900_000_000, "8.9 GB"),
        (12_345_600_000_000, "12,345.6 GB"),
    ],
)
def test_size(number, said):
    assert size(number) == said
