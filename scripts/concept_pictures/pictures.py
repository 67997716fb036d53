"""All pictures, by name: drawing them, and comparing them with those in docs/."""

import tempfile
from pathlib import Path

from scripts.concept_pictures.clusters import draw_chain, draw_proof
from scripts.concept_pictures.features import draw_edits, draw_shingles
from scripts.concept_pictures.fingerprints import draw_bits, draw_distances, draw_votes
from scripts.concept_pictures.searches import draw_bands, draw_matrix, draw_recall
from scripts.concept_pictures.thresholds import draw_gap

FOLDER = Path(__file__).parents[2] / "docs" / "images" / "concepts"
PICTURES = {
    "shingles": draw_shingles,
    "edits": draw_edits,
    "gap": draw_gap,
    "votes": draw_votes,
    "bits": draw_bits,
    "distances": draw_distances,
    "matrix": draw_matrix,
    "bands": draw_bands,
    "recall": draw_recall,
    "chain": draw_chain,
    "proof": draw_proof,
}


def draw(folder: Path) -> None:
    """Draw every picture into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, picture in PICTURES.items():
        picture().write(folder / f"{name}.svg")


def stale() -> list[str]:
    """The pictures that differ from those in docs/."""
    with tempfile.TemporaryDirectory() as folder:
        draw(Path(folder))
        return [
            name
            for name in PICTURES
            if not (FOLDER / f"{name}.svg").exists()
            or (FOLDER / f"{name}.svg").read_bytes() != (Path(folder) / f"{name}.svg").read_bytes()
        ]
