import os
import random
import re
import subprocess
import sys
from math import log

import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, strategies as st

from neardup.errors import InputError, SettingError
from neardup.features import keywords
from neardup.features.chinese import HAN, chinese_words, jieba_module
from neardup.features.keywords import chinese_keywords, is_chinese, keyword_words, top_terms
from neardup.kernels.reference import text as reference

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
    code = "from neardup.features.keywords import chinese_keywords as k; k('北京大学的学生', 3)"
    environment = {**os.environ, "TMPDIR": str(tmp_path), "TEMP": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True)
    assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")
    assert list(tmp_path.iterdir()) == []


def test_without_jieba_the_way_to_get_it_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "jieba.analyse.tfidf", None)
    keywords._jieba_idf.cache_clear()
    with pytest.raises(SettingError, match=r"pip install .neardup\[chinese\]"):
        chinese_keywords("北京大学", 3)


def test_text_without_han_needs_no_jieba(monkeypatch):
    monkeypatch.setattr("neardup.features.chinese._model", None)
    assert keyword_words("Cats and カ") == ["cats", "and", "カ"]
    assert not is_chinese("Cats and カ")


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
    assert [term for term, _ in top_terms(counts, weights.__getitem__, 3)] == ["often", "Z", "a"]
    assert top_terms({}, weights, 3) == []


@given(st.dictionaries(st.text(max_size=3), st.integers(1, 5), max_size=8), st.randoms())
def test_top_terms_do_not_depend_on_the_order_of_counts(counts, order):
    shuffled = list(counts.items())
    order.shuffle(shuffled)
    expected = top_terms(counts, lambda term: log(1 + len(term)), 4)
    assert top_terms(dict(shuffled), lambda term: log(1 + len(term)), 4) == expected


def test_a_term_that_the_idf_table_lacks_is_named():
    with pytest.raises(InputError, match="no value for the term 'dog'"):
        top_terms({"cat": 1, "dog": 1}, {"cat": 1.0}, 2)
