"""Published facts and figures of the original systems; none are ours."""

from __future__ import annotations

from dataclasses import dataclass

ARXIV_DOCUMENTS = 58_102
WIKIPEDIA_DOCUMENTS = 158_000


# The exercise of caim and irrs: two terms with given weights and bits.
WORKED_WEIGHTS = {"bit": 0.4, "coin": 1.2}
WORKED_BITS = {"bit": "1111", "coin": "1001"}
WORKED_SUMS = (1.6, -0.8, -0.8, 1.6)
WORKED_FINGERPRINT = "1001"

# What the published code of the blog returns, in hexadecimal, and its example of a distance.
BLOG_HASHES = {
    "hash": "6c3db4c29c6010c4",
    "simhash": "906715e69d079fba",
    "文档": "2e2b68caea6d14b4",
    "指纹": "2d085e82307432ee",
}
BLOG_DISTANCE = (("1011101", "1001001"), 2)


@dataclass(frozen=True)
class PublishedRow:
    """A row of a lab's table: M tables of K bits, their results, and seconds."""

    bands: int
    band_bits: int
    candidates: int
    true: int
    seconds: float

    @property
    def plan(self) -> str:
        """The name of the plan in neardup."""
        return f"bands:{self.bands}x{self.band_bits}"

    @property
    def false(self) -> int:
        """Candidates below the threshold."""
        return self.candidates - self.true


@dataclass(frozen=True)
class PublishedLab:
    """A lab on the arXiv abstracts: its preset, its table, and what its seconds measure."""

    preset: str
    system: str
    rows: tuple[PublishedRow, ...]
    about_seconds: str


CAIM = PublishedLab(
    "caim",
    "CAIM lab (Moreno and Lagos, UPC, 2025): M tables of K bits of MD5, bit = 1 where sum > 0, "
    "true from cosine 0.9",
    (
        PublishedRow(2, 10, 3_589_936, 16_745, 58.1852),
        PublishedRow(3, 10, 5_407_375, 17_555, 90.0085),
        PublishedRow(4, 10, 7_241_413, 17_976, 119.9581),
        PublishedRow(2, 12, 919_679, 16_412, 15.2214),
        PublishedRow(3, 12, 1_392_508, 17_251, 23.0246),
        PublishedRow(4, 12, 1_899_388, 17_772, 31.8762),
        PublishedRow(2, 18, 30_853, 15_201, 0.9100),
        PublishedRow(3, 18, 40_276, 16_031, 0.8887),
        PublishedRow(4, 18, 48_027, 16_536, 1.1741),
        PublishedRow(2, 27, 14_002, 13_903, 0.3924),
    ),
    "the published times cover the tables and the verification but not the fingerprints; ours "
    "cover all three",
)
IRRS = PublishedLab(
    "irrs",
    "IRRS lab 6 (Azzarito and Hagen, 2025): M tables of K bits of MD5, bit = 1 where sum ≥ 0, "
    "true from cosine 0.8",
    (
        PublishedRow(3, 12, 1_392_508, 17_878, 165.00),
        PublishedRow(3, 18, 40_276, 16_244, 110.46),
        PublishedRow(3, 22, 17_038, 15_492, 126.43),
        PublishedRow(4, 18, 48_027, 16_824, 139.29),
        PublishedRow(5, 18, 56_020, 17_420, 164.70),
    ),
    "the published times grow with the bits and hardly with the candidates, so they are mostly "
    "spent on fingerprints; ours cover fingerprints, tables and verification",
)
