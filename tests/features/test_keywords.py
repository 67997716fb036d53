import os
import random
import re
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from math import log

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, strategies as st

from neardup.errors import SettingError
from neardup.features import chinese
from neardup.features.chinese import jieba_idf, jieba_segmenter
from neardup.features.idf import IdfCounter
from neardup.features.keywords import candidate_words, keyword_terms
from neardup.kernels import HashKey, _native, available_isas
from neardup.kernels.columns import text_column
from neardup.kernels.keywords import best_terms, count_han, find_candidates
from neardup.kernels.reference import chinese as chinese_twin, keywords as twin, text as reference
from neardup.kernels.reference.chinese import HAN, jieba_module
from neardup.kernels.reference.keywords import is_chinese, keyword_words, top_terms
from neardup.kernels.terms import Vocabulary

MODERN = [
    "我来到北京清华大学，2024年GDP增长5.2%。",
    "使用Python3.11和C++编写的near-duplicate引擎，支持UTF-8编码和A&B测试。",
    "小明硕士毕业于中国科学院计算所，后在日本京都大学深造。小明是研究员。",
    "隔壁老王买了iPhone-15 Pro，花了9,999.00元；The price of it is HIGH。",
    "他来到了网易杭研大厦，杭研大厦在foo_bar.baz旁边 3.14% #1",
    "文档指纹可以发现近似重复的文档：相似的文档有相似的指纹。\r\n換行，測試𠀀䃔䃧。",
    "T恤和卡拉OK，AA制。",
    "",
    "，。！",
]
JOINED = re.compile("[\u4e00-\u9fd5a-zA-Z0-9+#&._%-]+")
# Words of equal probability and rare characters, where rounding and ties decide.
HAN_TEXTS = st.one_of(
    st.text(alphabet="的一是了我不人在他有"),
    st.text(alphabet="中国北京大学生活龘䃔𠀀鴻濛时候，"),
    st.text(alphabet="T恤卡拉OKAA制ab12.%+#&-_的中国é\r\n "),
    st.text(alphabet=st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF)),
)
WITHOUT_HAN = st.one_of(
    st.text(alphabet="aB_9 .\u0301\u0e01\u0e31ひカ\u0130ẞΣ"), st.text(alphabet="Ab 1-\n")
)
MIXED = st.one_of(
    HAN_TEXTS,
    WITHOUT_HAN,
    st.text(alphabet="中国 aカ\u0301.、"),
    st.text(alphabet="北京大学 the of The 々〇䃔𠀀 ab Cd  "),
)
KEY = HashKey.derive("test", b"secret")


def chinese_words(text):
    found = jieba_segmenter().cut(text)
    assert found == chinese_twin.chinese_words(text)
    return found


def chinese_keywords(text, count):
    return twin.chinese_keywords(text, count, *jieba_idf())


def by_text(terms):
    names = list(terms.vocabulary)
    pairs = [(names[i], w) for i, w in zip(terms.places, terms.counts.tolist(), strict=True)]
    return [pairs[begin:end] for begin, end in pairwise(terms.offsets.tolist())]


@pytest.fixture(scope="module")
def jieba(tmp_path_factory):
    """The oracle, jieba, with its cache in a folder of the test."""
    module = jieba_module("jieba.analyse") and jieba_module("jieba")
    module.setLogLevel("CRITICAL")
    module.dt.tmp_dir = str(tmp_path_factory.mktemp("jieba"))
    module.initialize()
    return module


@pytest.fixture(scope="module")
def poems(shared_data):
    texts = pq.read_table(shared_data / "tang_poems" / "docs.parquet", columns=["text"])["text"]
    return random.Random(0).sample(texts.to_pylist(), 300)


def cut_by_jieba(jieba, text):
    """All words of jieba except characters that it never joins."""
    return [word for word in jieba.lcut(text) if JOINED.fullmatch(word)]


def assert_same_keywords(jieba, text, count):
    expected = jieba.analyse.extract_tags(text, topK=count, withWeight=True)
    assert chinese_keywords(text, count) == expected


@pytest.mark.parametrize("text", MODERN)
@pytest.mark.parametrize("count", [1, 3, 50])
def test_keywords_of_modern_chinese_are_those_of_jieba(jieba, text, count):
    assert_same_keywords(jieba, text, count)
    assert chinese_words(text) == cut_by_jieba(jieba, text)


@pytest.mark.parametrize("count", [5, 50])
def test_keywords_of_poems_are_those_of_jieba(jieba, poems, count):
    for poem in poems:
        assert_same_keywords(jieba, poem, count)


@given(text=HAN_TEXTS)
@example(text="滟吁吁吁")
@example(text="有了了的一不一不一在他的有不是不不了有人人他不一在我人的人是有人了")
def test_words_and_keywords_are_those_of_jieba(jieba, text):
    assert chinese_words(text) == cut_by_jieba(jieba, text)
    assert_same_keywords(jieba, text, 10)


@given(st.lists(MIXED, min_size=1, max_size=5), st.integers(1, 6), st.sampled_from([None, KEY]))
@example(["the", "of it", "大", "大学", "我 a b c d", "カ the", "の的", "..."], 3, None)
@example(["々〆〇", "、々a々", "々" * 9 + "中国"], 2, KEY)
def test_keywords_are_those_of_the_twin(texts, count, key):
    column = text_column(texts)
    candidates = candidate_words(column, key)
    counts = [Counter() if is_chinese(text) else Counter(keyword_words(text)) for text in texts]
    assert [dict(pairs) for pairs in by_text(candidates)] == counts
    counter = IdfCounter("keywords")
    counter.add(candidates.offsets, candidates.hashes)
    table = counter.table()
    hashes = dict(zip(candidates.vocabulary, candidates.find_keys(), strict=True))
    idf = {term: float(table.idf(np.array([hash]), "tfidf")[0]) for term, hash in hashes.items()}
    expected = []
    for text, words in zip(texts, counts, strict=True):
        best = chinese_keywords(text, count) if is_chinese(text) else top_terms(words, idf, count)
        expected.append(best or list(Counter(reference.words(text)).items()))
    found = keyword_terms(column, count, table, key)
    assert by_text(found) == expected
    assert found.words.tolist() == [len(reference.words(text)) for text in texts]


@pytest.mark.parametrize(
    "text", ["中国" * 20_000, "ab 北京大学。" * 9_000, "a" * 40_000 + "中国北京" * 9_000]
)
def test_runs_of_han_go_on_from_piece_to_piece(text):
    for isa in available_isas():
        found = find_candidates(
            text_column([text]), np.zeros(1, np.bool_), jieba_segmenter(), isa=isa
        )
        names = [found.vocabulary[place] for place in found.places]
        counts = dict(zip(names, found.counts.tolist(), strict=True))
        assert counts == Counter(keyword_words(text))


def test_chinese_texts_need_a_segmenter():
    with pytest.raises(ValueError, match="need a segmenter"):
        find_candidates(text_column(["中国"]), np.ones(1, np.bool_), None)


@pytest.mark.parametrize("text", [b"\xe4\xb8", b"\xf0\xa0\x80", b"\xe4", b"a\xe4\xb8\xad\xe5"])
def test_bytes_that_are_not_text_are_never_read_past_their_end(text):
    column = np.frombuffer(text, np.uint8), np.array([0, len(text)])
    for chinese_flag in (0, 1):
        flags = np.array([chinese_flag], np.uint8)
        found = _native.keyword_candidates(*column, flags, jieba_segmenter().native, isa="auto")
        assert len(found[0]) == 2
    assert _native.han_counts(*column)[0] <= len(text)


@pytest.mark.parametrize("places", [[2, 0], [-1, 0]])
def test_entries_that_are_no_terms_are_refused(places):
    with pytest.raises(ValueError, match="no term"):
        best_terms(
            Vocabulary.of([b"a", b"b"]),
            np.array([0, 2]),
            np.array(places, np.int32),
            np.ones(2),
            np.zeros(1, np.bool_),
            1,
        )


def test_keywords_are_pinned():
    found = chinese_keywords("文档指纹可以发现近似重复的文档：相似的文档有相似的指纹。", 4)
    # The results of jieba 0.42.1; other tables would change fingerprints.
    assert found == [
        ("文档", 2.724178539968182),
        ("指纹", 1.8352754840363636),
        ("相似", 1.1757127763345456),
        ("近似", 0.6994637932045454),
    ]


def test_long_runs_of_rare_characters_take_no_more_than_a_moment():
    assert "".join(chinese_words("龘" * 100_000)) == "龘" * 100_000


def test_words_added_to_jieba_change_nothing(jieba, monkeypatch):
    monkeypatch.setattr(jieba.dt, "FREQ", dict(jieba.dt.FREQ))
    monkeypatch.setattr(jieba.dt, "total", jieba.dt.total)
    before = chinese_words("台中正在下雨")
    jieba.add_word("中正在下", 1_000_000)
    assert jieba.lcut("台中正在下雨") != before
    assert chinese_words("台中正在下雨") == before


def test_jieba_says_nothing_and_leaves_nothing_behind(tmp_path):
    code = "import neardup as nd; nd.fingerprint(['北京大学的学生'], 'keywords:3')"
    environment = {**os.environ, "TMPDIR": str(tmp_path), "TEMP": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True)
    assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")
    assert list(tmp_path.iterdir()) == []


def test_without_jieba_the_way_to_get_it_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "jieba.analyse.tfidf", None)
    chinese.jieba_idf.cache_clear()
    texts = text_column(["北京大学"])
    with pytest.raises(SettingError, match=r"pip install .neardup\[chinese\]"):
        keyword_terms(texts, 3, IdfCounter("keywords").table())


def test_text_without_han_needs_no_jieba(monkeypatch):
    monkeypatch.setattr("neardup.features.keywords.jieba_segmenter", None)
    words = candidate_words(text_column(["Cats and カ", "々 and 〇 of it"]))
    assert list(words.vocabulary) == ["cats", "and", "カ", "of", "it"]


def test_han_characters_are_the_solo_ones_of_no_other_script():
    others = [(0xE01, 0xEDF), (0x1000, 0x109D), (0x1780, 0x17E9), (0x3041, 0x31FF)]
    others += [(0xA9E0, 0xAA7F), (0xFF66, 0xFF9F), (0x1AFF0, 0x1B167)]
    solo = {code for code, kind in reference.kinds().items() if kind == "solo"}
    other = {code for first, last in others for code in range(first, last + 1)}
    assert {code for code in range(0x110000) if HAN.fullmatch(chr(code))} == solo - other


@given(st.one_of(HAN_TEXTS, WITHOUT_HAN, st.text(alphabet="中国 aカ\u0301.、")))
def test_chinese_is_half_han_or_more(text):
    words = reference.words(text)
    han = sum(bool(HAN.fullmatch(word)) for word in words)
    assert is_chinese(text) == (han > 0 and 2 * han >= len(words))
    counts, joined = count_han(text_column([text]))
    assert counts.tolist() == [han]
    assert joined == any("\u4e00" <= char <= "\u9fd5" for char in text)


@pytest.mark.parametrize(
    ("text", "chinese"),
    [
        ("我爱你", True),
        ("北京 is big", True),
        ("北京 is very big", False),
        ("東京はとても大きいです", False),
        ("", False),
        ("...", False),
    ],
)
def test_which_texts_are_chinese(text, chinese):
    assert is_chinese(text) is chinese


@given(WITHOUT_HAN)
@example("\u0301カ\u0301a\u0301b")
def test_words_of_text_without_han(text):
    solo = {chr(code) for code, kind in reference.kinds().items() if kind == "solo"}
    expected = [word for word in reference.words(text) if len(word) > 1 or word in solo]
    assert keyword_words(text) == expected


def test_words_of_mixed_text():
    text = "The THE x 我来到北京清华大学,İstanbul 清华\u0301ab、カラ 一 ไท北京"
    # A mark after a Han character belongs to no word, and the ab after it is a separate word.
    words = "the the 来到 北京 清华大学 istanbul 清华 ab カ ラ ไ ท 北京"
    assert " ".join(keyword_words(text)) == words


def test_top_terms_go_by_weight_and_then_by_code_points():
    counts = {"b": 1, "é": 1, "a": 1, "Z": 1, "often": 4, "中": 1}
    weights = dict.fromkeys(counts, 2.0)
    expected = [("often", 8 / 9), *((term, 2 / 9) for term in ["Z", "a", "b", "é", "中"])]
    assert top_terms(counts, weights, 10) == expected
    assert top_terms({}, weights, 3) == []


@given(st.dictionaries(st.text(max_size=3), st.integers(1, 5), max_size=8), st.randoms())
def test_top_terms_do_not_depend_on_the_order_of_counts(counts, order):
    shuffled = list(counts.items())
    order.shuffle(shuffled)
    idf = {term: log(1 + len(term)) for term in counts}
    assert top_terms(dict(shuffled), idf, 4) == top_terms(counts, idf, 4)
