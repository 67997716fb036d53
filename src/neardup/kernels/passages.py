r"""Passages: parts of texts, the keys of their words, and which of them can be alike.

Passages cover a text without gaps: what stands before the first belongs to it, and the white space
behind a passage belongs to that passage. They begin like this:

1. `line`: at each line that is not blank, unless a wrapped sentence goes on there: the line before
   has 40 characters or more, and is not in code (see 3). A sentence goes on in a line that begins
   with a small letter, where the line before does not end with the end of a sentence (and closing
   quotes or brackets). Line breaks are those of `neardup.features.sentences`.
2. `paragraph`: at each line behind a blank line. In a text without blank lines between others, at
   each line in which no sentence goes on.
   A block of code between fences, lines of three or more ` or ~, is one passage, blank lines and
   all, as Markdown has it: the line that closes it has at least as many of the same, and nothing
   else. A fence that no line closes is an ordinary line.
3. `sentence`: at each sentence of a paragraph, by the rules of `neardup.features.sentences`. In
   code each line counts as a sentence: in a paragraph of two or more lines in which more than one
   in sixteen characters, white space aside, is one of `(){}[]=<>;_*+&|\#@$^~`.
4. Windows of N words are made of sentences. From N / 2 words on, one sentence in N / 25 (but at
   most every second) ends a window, chosen by a hash of its words; at 2 N words any sentence does.
   So the same text is divided in the same way, wherever it stands.

The twin is `reference.passages`.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.frozen import dataclass
from neardup.kernels import _native
from neardup.kernels.columns import string_buffers

Sightings = _native.Sightings

UNITS = ("line", "paragraph", "sentence")


@dataclass(frozen=True, eq=False)
class Passages:
    """Text i has the passages `texts[documents[i]:documents[i + 1]]`.

    `words` is the number of words of each, and `keys` are 128 bits, the same for the same words in
    the same order.
    """

    documents: NDArray[np.int64]
    texts: pa.Array
    words: NDArray[np.uint32]
    keys: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.words)


def cut_passages(
    texts: pa.Array, *, unit: str, window: int | None = None, threads: int = 1, isa: str = "auto"
) -> Passages:
    r"""Cut texts into passages; with `window`, into windows of about so many words.

    >>> cut = cut_passages(pa.array(["One.\n\nTwo.\n\n", "One"]), unit="paragraph")
    >>> cut.texts.to_pylist(), cut.documents.tolist()
    (['One.\n\n', 'Two.\n\n', 'One'], [0, 2, 3])
    >>> bool((cut.keys[0] == cut.keys[2]).all())
    True
    """
    data, offsets = string_buffers(texts)
    documents, begins = _native.cut_passages(data, offsets, unit=unit, threads=threads)
    ends = np.append(begins, offsets[-1])
    words, keys = _native.word_keys(data, ends, threads=threads, isa=isa)
    if window is not None:
        is_begin = _native.begin_windows(documents, words, keys, size=window).view(np.bool_)
        documents = np.append(0, np.cumsum(is_begin))[documents]
        ends = np.append(begins[is_begin], offsets[-1])
        words, keys = _native.word_keys(data, ends, threads=threads, isa=isa)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(data)]
    column = pa.Array.from_buffers(pa.large_string(), len(ends) - 1, buffers)
    return Passages(documents, column, words, keys)
