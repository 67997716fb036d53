"""The text of HTML pages, compared with what browsers show."""

import time

import pytest

from neardup.errors import InputError
from neardup.read import Documents
from neardup.read.pages import decoded, page_text

SHOWN = {
    "<title>A &amp; B</title><p>One<p>Two": "A & B\n\nOne\n\nTwo",
    "w<b>or</b>d and<br>a line": "word and\na line",
    "<ul><li>one<li>two</ul>after": "one\ntwo\n\nafter",
    "<table><tr><td>a<td> b <tr><th>c</table>": "a\tb\nc",
    "a \n\t b": "a b",
    "<pre>a\n  b</pre>": "a\nb",
    "a<!-- no --> b<!--> c<!---> d": "a b c d",
    "a<!-- no": "a",
    "x<script>if (a < b) '</p>';</script>y<style>p {}</style>z": "xyz",
    "x<SCRIPT src='a'>no</Script >y": "xy",
    "x<script>never closed": "x",
    "x<svg><title>icon</title></svg>y<svg viewBox='0' />z": "xyz",
    "<a title='1 > 0' b=\"<p>\">link</a>": "link",
    "<a title=it's>link</a>": "link",
    "1 < 2 and 2 <3": "1 < 2 and 2 <3",
    "a</>b</ no>c<!no>d<?php no ?>e": "abcde",
    "&lt;b&gt; &nbsp;&#65;&eacute": "<b> \xa0Aé",
    "&am<b>p;</b>": "&amp;",
    "": "",
}


@pytest.mark.parametrize("markup", SHOWN)
def test_the_text_of_a_page(markup):
    assert page_text(markup.encode()) == SHOWN[markup]


@pytest.mark.parametrize(
    ("content", "charset", "text"),
    [
        ("é".encode(), None, "é"),
        ("é".encode("latin-1"), None, "é"),
        ("“é”".encode("cp1252"), "iso-8859-1", "“é”"),
        (b'<meta charset="iso-8859-2">\xb1', None, "ą"),
        (b"<META http-equiv=Content-Type content='text/html; charset=koi8-r'>\xc1", None, "а"),
        (b"<meta charset=shift_jis>" + "語".encode("cp932"), None, "語"),
        (b"<meta charset=gb2312>" + "语".encode("gb18030"), None, "语"),
        (b"<meta charset=utf-16>" + "é".encode(), None, "é"),
        ("é".encode("utf-16"), None, "é"),
        (b"\xef\xbb\xbf<meta charset=latin1>" + "é".encode(), None, "é"),
        (b"<meta charset=latin1>" + "é".encode(), "utf-8", "é"),
        (b"a\xffb", "utf-8", "a\ufffdb"),
    ],
)
def test_the_encoding_is_that_of_a_browser(content, charset, text):
    assert decoded(content, charset).rpartition(">")[2] == text


@pytest.mark.parametrize("charset", ["klingon", "base64", "\x00"])
def test_an_unknown_encoding_is_named(charset):
    with pytest.raises(ValueError, match=r"in the encoding .*, which is unknown"):
        decoded(b"a", charset)


@pytest.mark.parametrize(
    "piece", ["<a ", "<!--", '<a b="', "<script>", "< ", "='", "</", "<svg ", "&", "<p", "\n "]
)
def test_no_page_takes_long(piece):
    began = time.process_time()
    page_text((piece * (400_000 // len(piece))).encode())
    assert time.process_time() - began < 2


def test_pages_in_files(tmp_path):
    (tmp_path / "a.html").write_bytes(b"<meta charset=latin1><p>caf\xe9")
    (tmp_path / "b.htm").write_bytes("<p>größe".encode("utf-16"))
    (tmp_path / "c.html").write_bytes(b"<meta charset=klingon>x")
    (tmp_path / "d.html").write_bytes(b"\x89PNG\r\n" + bytes(20))
    (tmp_path / "e.html").write_bytes(b"\x00\x01\x02")
    (tmp_path / "page").write_text("<!DOCTYPE html><p>no suffix")
    (tmp_path / "main.php").write_text("<!DOCTYPE html><?php echo 1 ?>")
    (batch,) = Documents(tmp_path)
    assert batch.documents.to_pydict() == {
        "id": ["a.html", "b.htm", "main.php", "page"],
        "text": ["café", "größe", "<!DOCTYPE html><?php echo 1 ?>", "no suffix"],
    }
    assert [(row.row, row.reason.partition(";")[0]) for row in batch.rejected] == [
        (None, "is in the encoding 'klingon', which is unknown"),
        (None, "is a PNG image, which neardup does not read"),
        (None, "is not text"),
    ]
    (source,) = Documents(tmp_path / "a.html", read_as="lines").sources
    assert source.format == "lines"
    with pytest.raises(InputError, match=r"c\.html is in the encoding 'klingon'"):
        list(Documents(tmp_path / "c.html"))
