"""Rows with known near-duplicates, for every program that neardup works in."""

from tests.deduplication.planted import planted_texts

COUNT = 120


def rows():
    """Columns of a table: texts, some of them missing, and values of other types."""
    texts = [*planted_texts(COUNT - 4, words=40, share=0.4, seed=22), None, "", "?!", None]
    return {
        "site": [f"site-{place % 3}" for place in range(COUNT)],
        "body": texts,
        "score": [float(place * 7 % 11) for place in range(COUNT)],
    }


# Settings of `neardup.dedup`, which every program passes on.
SETTINGS = [
    {},
    {"threshold": 0.6, "cluster": "components"},
    {"features": "char:5", "keep": "longest"},
    {"keep": "max:score"},
    {"id": "score"},
    {"preset": "google2007"},
]

# What a user may get wrong, and a part of the sentence that says so.
MISTAKES = [
    ({"text": None}, "the table has no column 'text', only"),
    ({"text": "bodies"}, "the table has no column 'bodies', only"),
    ({"text": "site+name"}, "the table has no column 'name', only"),
    ({"text": "score"}, "double"),
    ({"treshold": 0.9}, "unknown setting 'treshold'; did you mean 'threshold'"),
    ({"threshold": 9}, "threshold=9 must be a number"),
    ({"id": "key"}, "the table has no column 'key', only"),
    ({"keep": "max:date"}, "the input has no column 'date'"),
    ({"max_document": 100}, "row 0 cannot be read: .* take it out, or raise max_document"),
]
