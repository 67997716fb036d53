"""The examples of the guide run against a server, in a folder with a corpus."""

import doctest
import json
from pathlib import Path

import neardup as nd

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "clients.md"


def test_the_examples_of_the_guide_run(server, tmp_path, monkeypatch):
    texts = ["one two three four five", "One, two, three, four five", "else here is"]
    rows = [{"id": f"doc-{row}", "text": text} for row, text in enumerate(texts * 3)]
    corpus = server.data / "corpus.jsonl"
    corpus.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    guide = GUIDE.read_text(encoding="utf-8").replace("http://127.0.0.1:7700", server.url)
    examples = doctest.DocTestParser().get_doctest(guide, {"nd": nd}, "clients.md", str(GUIDE), 0)
    assert len(examples.examples) > 20
    told: list[str] = []
    done = doctest.DocTestRunner().run(examples, out=told.append)
    assert done.failed == 0, "".join(told)
    assert (tmp_path / "kept.parquet").exists()
    with nd.Client(server.url) as client:
        client.delete_index("pages")
        for job in client.jobs():
            client.cancel_job(job.id)
