"""Arguments of a client, and what it needs."""

import asyncio
import subprocess
import sys

import pytest

import neardup as nd

FLAVOURS = [nd.Client, nd.AsyncClient]


@pytest.mark.parametrize("kind", FLAVOURS)
@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"url": "127.0.0.1:7700"}, "not the address of a server; write it like http://127"),
        ({"url": "ftp://host"}, "url='ftp://host' is not the address"),
        ({"url": "http://"}, "is not the address"),
        ({"url": None}, "url=None is not the address"),
        ({"url": "http://host:99999"}, "is not the address"),
        ({"url": "http://[::1"}, "is not the address"),
        ({"url": "http://host/?a=b"}, "is not the address"),
        ({"key": ""}, "key must be a text"),
        ({"key": "schlüssel"}, "key must be a text of ASCII"),
        ({"timeout": 0}, "timeout=0 must be"),
        ({"timeout": None}, "timeout=None must be"),
        ({"retries": -1}, "retries=-1 must be a whole number"),
        ({"retries": 1.5}, "retries=1.5 must be a whole number"),
        ({"retry": 1}, "unknown setting 'retry'; did you mean 'retries'"),
    ],
)
def test_wrong_arguments(kind, given, told):
    with pytest.raises(nd.SettingError) as caught:
        kind(**{"url": "http://127.0.0.1:7700", **given})
    assert told in str(caught.value)
    assert "schlüssel" not in str(caught.value)  # a key is never shown


@pytest.mark.parametrize("kind", FLAVOURS)
@pytest.mark.parametrize("name", ["", None, 17, "a/b"])
def test_the_name_of_an_index(kind, name):
    with pytest.raises(nd.SettingError, match="is not the name of an index"):
        kind("http://127.0.0.1:7700").index(name)


def test_a_closed_client_says_so():
    with nd.Client("http://127.0.0.1:9") as client:
        index = client.index("pages")
    for call in (client.indexes, lambda: index.check("a", "b"), lambda: len(index)):
        with pytest.raises(nd.NeardupError, match="the client is closed; make a new one"):
            call()

    async def work():
        async with nd.AsyncClient("http://127.0.0.1:9") as client:
            pass
        await client.indexes()

    with pytest.raises(nd.NeardupError, match="the client is closed; make a new one"):
        asyncio.run(work())


def run(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.parametrize("name", ["Client", "AsyncClient"])
def test_a_missing_httpx_is_told_in_one_sentence(name):
    found = run(
        "import sys; sys.modules['httpx'] = None\n"
        "import neardup as nd\n"
        "assert issubclass(nd.ServiceError, nd.NeardupError)\n"
        "try:\n"
        f"    nd.{name}('http://127.0.0.1:7700')\n"
        "except nd.NeardupError as error:\n"
        "    print(error)\n"
    )
    assert "needs httpx" in found.stdout
    assert "pip install 'neardup[serve]'" in found.stdout
    assert len(found.stdout.splitlines()) == 1, found.stderr


def test_httpx_and_scrapy_are_imported_only_when_used():
    found = run(
        "import sys, neardup as nd\n"
        "nd.MemoryIndex, nd.Client, nd.ServiceError\n"
        "import neardup.contrib\n"
        "print({'httpx', 'scrapy', 'twisted'} & set(sys.modules))\n"
    )
    assert found.stdout.strip() == "set()", found.stderr
