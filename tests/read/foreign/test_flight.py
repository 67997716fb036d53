"""Arrow Flight servers, and Arrow streams from a pipe."""

import io
import subprocess
import sys

import pyarrow as pa
import pyarrow.flight as flight
import pytest
from tests.cli import forked
from tests.read.foreign.tables import TEXTS, read

import neardup as nd
from neardup.errors import InputError

TABLE = pa.table({"id": ["a", "b", "c", "d"], "text": TEXTS})


class Server(flight.FlightServerBase):  # type: ignore[misc]
    """Serves one table at the path `corpus/pages`, in two endpoints."""

    def _info(self):
        ends = [flight.FlightEndpoint(part, []) for part in (b"0", b"1")]
        descriptor = flight.FlightDescriptor.for_path("corpus", "pages")
        return flight.FlightInfo(TABLE.schema, descriptor, ends, -1, -1)

    def list_flights(self, context, criteria):
        yield self._info()

    def get_flight_info(self, context, descriptor):
        if descriptor.path != [b"corpus", b"pages"]:
            raise flight.FlightServerError("there is no such table")
        return self._info()

    def do_get(self, context, ticket):
        return flight.RecordBatchStream(TABLE.slice(2 * int(ticket.ticket), 2))


@pytest.fixture(scope="module")
def url():
    with Server("grpc://127.0.0.1:0") as server:
        yield f"grpc://127.0.0.1:{server.port}"


def refusal(name):
    with pytest.raises(InputError) as refused:
        read(name)
    return str(refused.value)


def test_a_table_of_a_server(url):
    assert read(f"{url}/corpus/pages")[0] == TABLE.to_pydict()
    assert nd.dedup(f"{url}/corpus/pages").kept["id"].to_pylist() == ["a", "c", "d"]


def test_errors_of_servers_are_sentences(url):
    assert refusal(url).endswith(
        f"the server are 'corpus/pages'; name one, for example {url}/corpus/pages"
    )
    assert "there is no such table" in refusal(f"{url}/none")
    assert "cannot be read" in refusal("grpc://127.0.0.1:1/pages")
    assert "password" in refusal("grpc://me:secret@127.0.0.1:1/pages")


def stream_of_table(**options):
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, TABLE.schema, **options) as writer:
        writer.write_table(TABLE)
    return sink.getvalue()


@pytest.mark.parametrize("command", ["dedup", "fingerprint"])
def test_an_arrow_stream_from_a_pipe(tmp_path, command):
    done = subprocess.run(
        [sys.executable, "-m", "neardup", command, "-", "-o", tmp_path / "out"],
        input=stream_of_table(),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    if command == "dedup":
        assert nd.Result.load(tmp_path / "out").kept["id"].to_pylist() == ["a", "c", "d"]


def test_files_with_arrow_streams(tmp_path):
    path = tmp_path / "a.arrows"
    path.write_bytes(stream_of_table())
    assert read(path)[0] == TABLE.to_pydict()
    path.write_bytes(stream_of_table()[:-200])
    assert "cannot be read to its end" in refusal(path)
    wrong = tmp_path / "a.jsonl"
    wrong.write_bytes(stream_of_table())
    assert refusal(wrong) == f"{wrong} is an Arrow stream; rename it to {path}"
    assert forked.neardup("fingerprint", wrong, "-o", tmp_path / "f.parquet").returncode == 1
