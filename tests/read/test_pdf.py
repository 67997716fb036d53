"""PDF files: their text, and those without."""

import zlib

import pytest

from neardup.errors import InputError
from neardup.read import Documents, pdf


def pdf_bytes(*pages, more=b""):
    """A PDF with these lines of text on each page."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b""]
    kids = []
    for page in pages:
        shown = b" T* ".join(b"(%s) Tj" % line.encode("latin-1") for line in page)
        drawn = zlib.compress(b"BT /F1 12 Tf 14 TL 50 700 Td " + shown + b" ET")
        font = (
            b"<< /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica "
            b"/Encoding /WinAnsiEncoding >> >>"
        )
        number = len(objects) + 1
        kids.append(b"%d 0 R" % number)
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents %d 0 R "
            b"/Resources << /Font %s >> >>" % (number + 1, font)
        )
        objects.append(
            b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(drawn), drawn)
        )
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b" ".join(kids), len(kids))
    written = b"%PDF-1.7\n"
    places = []
    for number, content in enumerate(objects, 1):
        places.append(len(written))
        written += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    begin, size = len(written), len(objects) + 1
    written += b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, table)
    written += b"trailer\n<< /Root 1 0 R /Size %d %s >>\n" % (size, more)
    return written + b"startxref\n%d\n%%%%EOF" % begin


ENCRYPTED = (
    b"/ID [<00><00>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <"
    + b"28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A> /U <"
    + b"11" * 32
    + b"> >>"
)


def test_the_text_of_a_pdf(tmp_path):
    (tmp_path / "a.pdf").write_bytes(pdf_bytes(["Gr\xf6\xdfe one", "two"], ["three"]))
    (batch,) = Documents(tmp_path / "a.pdf")
    assert batch.documents.to_pydict() == {
        "id": [f"{tmp_path}/a.pdf"],
        "text": ["Größe one\ntwo\n\nthree"],
    }


def test_pdf_files_without_text_are_left_out_with_the_reason(tmp_path):
    good = pdf_bytes(["text"])
    (tmp_path / "a.pdf").write_bytes(good)
    (tmp_path / "b.pdf").write_bytes(pdf_bytes([], []))
    (tmp_path / "c.pdf").write_bytes(b"%PDF-1.7\nnothing")
    (tmp_path / "d.pdf").write_bytes(b"plain text")
    (tmp_path / "e.pdf").write_bytes(b"")
    (tmp_path / "f.pdf").write_bytes(pdf_bytes(["secret"], more=ENCRYPTED))
    (batch,) = Documents(tmp_path)
    assert batch.ids.to_pylist() == ["a.pdf"]
    assert all(row.row is None for row in batch.rejected)
    reasons = [row.reason for row in batch.rejected]
    assert (
        reasons[0] == "is a PDF without text (2 pages); if it is a scan, recognize its text first"
    )
    assert reasons[1].startswith("is a damaged PDF (")
    assert reasons[2] == reasons[3] == "is not a PDF document; rename it, or leave it out"
    assert reasons[4] == "is an encrypted PDF; remove its password first"
    with pytest.raises(InputError, match=r"f\.pdf is an encrypted PDF"):
        list(Documents(tmp_path / "f.pdf"))


def test_without_the_library_a_sentence_says_how_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setattr(pdf, "find_spec", lambda _: None)
    (tmp_path / "a.pdf").write_bytes(pdf_bytes(["text"]))
    (tmp_path / "b.md").write_text("b")
    with pytest.raises(InputError, match=r"needs pypdfium2: pip install 'neardup\[pdf\]'"):
        Documents(tmp_path / "a.pdf")
    (batch,) = Documents(tmp_path)
    assert batch.ids.to_pylist() == ["b.md"]
    assert batch.rejected[0].reason.startswith("is a PDF document, which needs pypdfium2")
