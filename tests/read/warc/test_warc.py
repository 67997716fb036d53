"""WARC files, written by warcio and by hand, whole and damaged."""

import gzip
import io
import zlib

import pyarrow as pa
import pytest
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from neardup.errors import InputError
from neardup.read import Documents

PAGE = b"<title>T</title><p>caf\xe9"
HTML = "text/html; charset=iso-8859-1"


def brotli(data):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "brotli") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


# Name: status, content type, other fields, body, text (None: no document)
RESPONSES = {
    "page": ("200 OK", HTML, {}, PAGE, "T\n\ncafé"),
    "utf8": ("200 OK", "text/html", {}, "<p>größe".encode(), "größe"),
    "gzip": ("200 OK", HTML, {"Content-Encoding": "gzip"}, gzip.compress(PAGE), "T\n\ncafé"),
    "decoded": ("200 OK", HTML, {"Content-Encoding": "gzip"}, PAGE, "T\n\ncafé"),
    "deflate": ("200 OK", HTML, {"Content-Encoding": "deflate"}, zlib.compress(PAGE), "T\n\ncafé"),
    "br": ("200 OK", HTML, {"Content-Encoding": "br"}, brotli(PAGE), "T\n\ncafé"),
    "chunked": (
        "200 OK",
        "text/html",
        {"Transfer-Encoding": "chunked"},
        b"5;x=y\r\n<p>ab\r\n3\r\ncde\r\n0\r\n\r\n",
        "abcde",
    ),
    "text": ("203 OK", "text/plain", {}, b"\xef\xbb\xbfplain", "plain"),
    "missing": ("404 Not Found", HTML, {}, PAGE, None),
    "image": ("200 OK", "image/png", {}, b"\x89PNG", None),
}


def warc_bytes(*, compressed=True):
    sink = io.BytesIO()
    writer = WARCWriter(sink, gzip=compressed)
    writer.write_record(writer.create_warcinfo_record("a.warc", {"software": "test"}))
    for name, (status, kind, fields, body, _) in RESPONSES.items():
        http = StatusAndHeaders(
            status, [("Content-Type", kind), *fields.items()], protocol="HTTP/1.1"
        )
        writer.write_record(
            writer.create_warc_record(
                f"http://a/{name}", "response", payload=io.BytesIO(body), http_headers=http
            )
        )
        writer.write_record(writer.create_warc_record(f"http://a/{name}", "metadata"))
    writer.write_record(
        writer.create_warc_record(
            "http://a/wet",
            "conversion",
            payload=io.BytesIO(b"a text"),
            warc_content_type="text/plain",
        )
    )
    return sink.getvalue()


EXPECTED = {
    **{f"http://a/{name}": parts[-1] for name, parts in RESPONSES.items() if parts[-1]},
    "http://a/wet": "a text",
}


@pytest.mark.parametrize("compressed", [True, False])
def test_pages_and_texts_are_documents(tmp_path, compressed):
    path = tmp_path / ("a.warc.gz" if compressed else "a.warc")
    path.write_bytes(warc_bytes(compressed=compressed))
    (batch,) = Documents(path, columns="all")
    found = batch.documents.to_pydict()
    assert list(found) == ["id", "text", "url", "date", "content_type"]
    assert dict(zip(found["url"], found["text"], strict=True)) == EXPECTED
    assert all(id.startswith("urn:uuid:") for id in found["id"])
    assert len(set(found["id"])) == len(EXPECTED)
    assert found["content_type"][:2] == ["text/html", "text/html"]
    assert not batch.rejected
    (batch,) = Documents(path, id="url")
    assert batch.ids.to_pylist() == list(EXPECTED)
    (batch,) = Documents(path, id="row")
    assert batch.ids.to_pylist() == list(range(len(EXPECTED)))
    small = list(Documents(path, batch_bytes=1))
    assert len(small) > 3
    assert sum(len(batch.ids) for batch in small) == len(EXPECTED)


def record(kind="conversion", id="<urn:uuid:1>", length=None, body=b"text", more=b""):
    length = len(body) if length is None else length
    head = f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: {id}\r\nContent-Type: text/plain\r\n"
    return head.encode() + more + f"Content-Length: {length}\r\n\r\n".encode() + body + b"\r\n\r\n"


def read(path, **more):
    batches = list(Documents(path, **more))
    ids = [id for batch in batches for id in batch.ids.to_pylist()]
    return ids, [(row.row, row.reason) for batch in batches for row in batch.rejected]


def test_damage_is_rejected_with_its_offset_and_reading_goes_on(tmp_path):
    first, last = record(id="<urn:a>"), record(id="<urn:z>")
    damaged = {
        b"garbage\nmore of it\r\n": "20 bytes that are no record",
        b"WARC/1.0\r\nno field\r\n\r\n": "a header with the line 'no field', which is no field",
        record(length="-1", body=b""): "no length: its Content-Length is '-1'",
        record(id=""): "no 'id'",
        record(body=b"\xff"): "invalid UTF-8, byte 0xff at offset 0",
        record(body=b"x" * 2000): "2,000 bytes long, more than --max-document allows (1,000 bytes)",
    }
    path = tmp_path / "a.warc"
    for piece, reason in damaged.items():
        path.write_bytes(first + piece + last)
        expected = [(1, f"record at byte {len(first)}: {reason}")]
        found, rejected = read(path, max_document=1000)
        assert (found, rejected[:1]) == (["urn:a", "urn:z"], expected)
    path.write_bytes(first + record(body=b"abc")[:-5])
    assert read(path) == (["urn:a"], [(1, f"record at byte {len(first)}: cut short: 2 of 3 bytes")])


def test_a_damaged_archive_of_a_folder_is_used_as_far_as_it_goes(tmp_path):
    content = b"".join(gzip.compress(record(id=f"<urn:{n}>")) for n in range(20))
    (tmp_path / "a.warc.gz").write_bytes(content[:-10])
    (tmp_path / "b.warc").write_bytes(b"not a record")
    (tmp_path / "c.wet").write_bytes(record(id="<urn:c>"))
    ids, rejected = read(tmp_path)
    assert ids[-1] == "urn:c"
    reasons = [reason for row, reason in rejected if row is None]
    assert len(reasons) == 2
    assert any("cannot be read to its end" in reason for reason in reasons)
    assert any("is not a WARC file" in reason for reason in reasons)
    with pytest.raises(InputError, match=r"b\.warc is not a WARC file"):
        Documents(tmp_path / "b.warc")
    with pytest.raises(InputError, match="has no column 'body'; its columns are 'id', 'text', 'u"):
        Documents(tmp_path / "c.wet", text="body")


def test_a_body_that_grows_when_decompressed_is_rejected(tmp_path):
    body = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\n\r\n"
    bomb = record("response", body=body + gzip.compress(bytes(10_000_000), 9))
    (tmp_path / "a.warc").write_bytes(bomb + record(id="<urn:b>"))
    ids, ((row, reason),) = read(tmp_path / "a.warc", max_document=100_000)
    assert (ids, row) == (["urn:b"], 0)
    assert reason == "record at byte 0: longer than --max-document allows (100,000 bytes)"
