from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from neardup.features import sentences as native
from neardup.features.spec import FeatureKind
from neardup.kernels import _native, sentences as kernel
from neardup.kernels.columns import text_column
from neardup.kernels.reference import sentences as twin, text as reference

SPACE = "".join(chr(code) for code, kind in reference.kinds().items() if kind == "space")
BREAKS = "\n\r\x0b\x0c\x85\u2028\u2029"
FIRM = "。！？；｡؟۔।॥։።፧។៕။"
SOFT = ".!?…‼⁇⁈⁉"
CLOSING = "\"'”’»›)]}」』）】〕》〉〗〙〛｝］｣＂＇"
LOWER = set(map(chr, reference.lower_map().values()))

TRICKY = ' \n\n\r\t\u2029\u3000aAß1２٣_好かéİ\u0301.。!？…；．;؟۔؛।"”“)（([-\x1c\x85'
TEXTS = st.one_of(
    st.text(), st.text(alphabet=TRICKY), st.text(alphabet="Aa1 \n.….“。", max_size=40)
)


def cut_sentences(text):
    found = native.cut_sentences(text)
    assert found == twin.cut_sentences(text)
    return found


def longest_sentences(text, count):
    found = native.passages([text], FeatureKind("sentences", count))[0]
    assert found == twin.longest_sentences(text, count)
    return found


def edge_sentences(text):
    found = native.passages([text], FeatureKind("edges", 0))[0]
    assert found == twin.edge_sentences(text)
    return found


def slow_lines(text):
    """Lines with their line breaks; CR LF is one line break."""
    lines = [""]
    for place, char in enumerate(text):
        lines[-1] += char
        if char in BREAKS and text[place : place + 2] != "\r\n":
            lines.append("")
    return lines


def slow_paragraphs(text):
    paragraphs = [""]
    for line in slow_lines(text):
        if line.strip(SPACE):
            paragraphs[-1] += line
        elif paragraphs[-1]:
            paragraphs.append("")
    return [paragraph.strip(SPACE) for paragraph in paragraphs if paragraph]


def stop_of_a_short_word(before):
    if not before or reference.kinds().get(ord(before[-1])) != "letter":
        return False
    return len(before) == 1 or before[-2] in SPACE + ".([{"


def slow_cut(paragraph):
    found, start, place = [], 0, 0
    while place < len(paragraph):
        char, following = paragraph[place], paragraph[place + 1 : place + 2]
        is_wide_stop = char == "．" and (
            not following or following not in "0123456789０１２３４５６７８９"
        )
        firm = char in FIRM or char + following == "……" or is_wide_stop
        if not firm and char not in SOFT:
            place += 1
            continue
        end = place + 1
        belonging = FIRM + SOFT + "．" + CLOSING if firm else SOFT + CLOSING + "“‘"
        while end < len(paragraph) and paragraph[end] in belonging:
            end += 1
        after = paragraph[end:].lstrip(SPACE)
        ends = bool(after) and paragraph[end] in SPACE
        ends = ends and after[0] not in LOWER and after[0] not in "0123456789"
        if paragraph[place:end] == "." and stop_of_a_short_word(paragraph[:place]):
            ends = False
        if firm or ends:
            found.append(paragraph[start:end])
            start = end
        place = end
    stripped = [sentence.strip(SPACE) for sentence in [*found, paragraph[start:]]]
    return [sentence for sentence in stripped if reference.words(sentence)]


def slow_longest(text, count):
    found = [part for paragraph in slow_paragraphs(text) for part in slow_cut(paragraph)]
    order = sorted(found, key=lambda sentence: (-len(reference.words(sentence)), -len(sentence)))
    chosen = {}
    for sentence in order:
        chosen.setdefault(tuple(reference.words(sentence)), sentence)
    kept = list(chosen.values())[:count]
    return sorted(kept, key=found.index)


def slow_edges(text):
    lines = [line.strip(SPACE) for line in slow_lines(text) if line.strip(SPACE)]
    paragraphs = slow_paragraphs(text)
    cut = [slow_cut(part) for part in (paragraphs if len(paragraphs) > 1 else lines)]
    titles = [line for line in lines if reference.words(line)][:1]
    edges = [[part[0], part[-1]][: len(part)] for part in cut if part]
    first = [sentence for pair in edges[:1] for sentence in pair if [sentence] != titles]
    return titles + first + [sentence for pair in edges[1:] for sentence in pair]


@given(TEXTS)
@example("A.\r\n\r\nb")
@example("A.\r\nb")
@example("a\n \x0b b")
@example("?……Aa")
@example(".A. B")
def test_sentences_are_those_of_the_slow_twin(text):
    expected = [part for paragraph in slow_paragraphs(text) for part in slow_cut(paragraph)]
    assert cut_sentences(text) == expected


@given(TEXTS, st.integers(1, 4))
@example("A b. a B! C. Long word. A b?", 2)
@example("B a. A b. Ab c.", 1)
def test_longest_sentences_are_those_of_the_slow_twin(text, count):
    assert longest_sentences(text, count) == slow_longest(text, count)


@given(TEXTS)
@example("Title\n\nOne. Two. Three.\n\nFour")
@example("-\nTitle. More\nOne. Two.\n")
def test_edges_are_those_of_the_slow_twin(text):
    assert edge_sentences(text) == slow_edges(text)


@pytest.mark.parametrize(
    "text",
    [
        "One. |Two! |Three? |Four… |Five",
        "He said “Go.” |Then (he left.) |„Gut.“ |Ja.",
        "Really?! |Yes... |No",
        "Pi is 3.14 and v1.2.3 of example.com. |Done",
        "See Fig. 3 and approx. ten, e.g. this. |End",
        "J. R. R. Tolkien and the U.S. Army [A. Smith]. |Next",
        "1. Apples are red. 2. Pears. |Done",
        "It isn't. |That's it.",
        "“Why?” he asked. |“No!” |She left",
        "A line that is\nwrapped goes on\r\nand on. |Next",
        "A heading |\n\n|no stop |\n \t\n|More",
        "我来了。|你呢？|他说：“好！”|走吧；|行……|再见…好|",
        "「はい。」|そうです。|３．１４です．|次",
        "他走了。|“你好”",
        "هل أنت بخير؟ |نعم؛ شكرا. |انتهى",
        "یہ ایک ہے۔ |دوسرا۔",
        "यह एक है। |दूसरा॥ |तीसरा",
        "Բարեւ։ |Աշխարհ",
        "ሰላም። |ዓለም፧ |እሺ",
        "Wait; no: yes, well",
        "Größe. ßo. |Ende",
    ],
)
def test_where_sentences_end(text):
    cuts = [part.strip(SPACE) for part in text.split("|")]
    assert cut_sentences(text.replace("|", "")) == [part for part in cuts if part]


def test_what_has_no_word_is_no_sentence():
    assert cut_sentences("... *** !\n\n---\n\n❤️。 \u0301") == []
    assert longest_sentences("", 3) == edge_sentences("\n \n") == []


def test_separators_that_only_python_takes_for_white_space_are_kept():
    assert cut_sentences("\x1cOne.\x1cTwo") == ["\x1cOne.\x1cTwo"]


def test_the_longest_stand_in_the_order_of_the_text_and_once():
    text = "Short one. The quick brown fox. Tiny. THE QUICK, BROWN FOX! Two more words here now."
    assert longest_sentences(text, 2) == ["THE QUICK, BROWN FOX!", "Two more words here now."]
    assert longest_sentences(text, 1) == ["Two more words here now."]
    assert longest_sentences("Ab cd. Ef gh. Ij kl.", 2) == ["Ab cd.", "Ef gh."]


def test_edges_of_paragraphs():
    text = "\n\nOn Cats\n\nCats sleep. They purr. They eat.\nOften. \n\nThe end.\n"
    assert edge_sentences(text) == ["On Cats", "Cats sleep.", "Often.", "The end."]


def test_without_blank_lines_each_line_is_a_paragraph():
    text = "On Cats\nThey sleep. They purr. They eat.\nThe end"
    assert edge_sentences(text) == ["On Cats", "They sleep.", "They eat.", "The end"]


def test_marks_are_neither_words_nor_white_space():
    marks = twin.FIRM_ENDS + twin.SOFT_ENDS + twin.SOFT_CLOSERS + "．……"
    assert not [mark for mark in marks if ord(mark) in reference.kinds()]


@pytest.mark.parametrize("cut", [cut_sentences, edge_sentences, lambda t: longest_sentences(t, 5)])
@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("." * 200_000 + "x", 1),
        ("x." + '"' * 200_000 + "y", 1),
        ("." + " " * 200_000, 0),
        ("a." + " " * 200_000 + "b", 1),
        ("\r" * 200_000 + "\n ", 0),
        ("\n ." * 60_000, 0),
        ("x" * 200_000, 1),
    ],
)
def test_hostile_texts_take_no_more_than_a_moment(cut, text, count):
    assert len(cut(text)) == count


@given(st.lists(TEXTS, max_size=600), st.sampled_from(["sentences", "edges"]))
def test_texts_do_not_depend_on_their_neighbours_or_on_threads(texts, unit):
    column, kind = text_column(texts), FeatureKind(unit, 2 if unit == "sentences" else 0)
    alone = [native.passages([text], kind)[0] for text in texts]
    for threads in (1, 3):
        chosen = native.choose_sentences(column, kind, threads)
        every = chosen.strings.to_pylist()
        found = [every[a:b] for a, b in pairwise(chosen.offsets.tolist())]
        assert found == alone
        assert len(chosen.hashes) == len(every)


@pytest.mark.parametrize(
    "text", [b"\xe3\x80", b"a.\xf0\x9f", b"\x80\x80. \xe2", b"\xff. \xc2", b"\xfd" * 9]
)
@pytest.mark.parametrize("edges", [False, True])
def test_bytes_that_are_not_text_are_never_read_past_their_end(text, edges):
    offsets = np.array([0, len(text)])
    _, data, ends = _native.sentences(
        np.frombuffer(text, np.uint8), offsets, edges=edges, threads=1
    )
    assert ends[-1] == len(data) <= 2 * len(text)


@pytest.mark.parametrize("documents", [[0, 2], [-1, 1], [1, 0]])
def test_documents_outside_the_sentences_are_refused(documents):
    one = text_column(["a"])
    with pytest.raises(ValueError, match="outside the sentences"):
        kernel.longest_sentences(
            np.array(documents), one, np.ones(1, np.uint32), np.ones(1, np.uint64), 1
        )
