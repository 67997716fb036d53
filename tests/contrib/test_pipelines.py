"""The examples for Airflow and Dagster. Airflow is too large to be installed for a test."""

import importlib.util
import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import neardup as nd

EXAMPLES = Path(__file__).parents[2] / "examples"


def example(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / "pipelines" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_task_of_the_airflow_dag(tmp_path):
    """Airflow itself is run if it is installed; the task is plain Python in any case."""
    rows = (EXAMPLES / "sample.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    clean = example("airflow_dag").clean_delivery
    for day, part in (("monday", rows[:200]), ("tuesday", rows[100:])):
        (tmp_path / f"{day}.jsonl").write_text("".join(part), encoding="utf-8")

    def run(day):
        found = clean(
            f"{tmp_path}/{day}.jsonl", f"{tmp_path}/clean-{day}", f"{tmp_path}/seen.index"
        )
        kept = pq.read_table(tmp_path / f"clean-{day}" / "kept.parquet")["id"].to_pylist()
        assert found["documents"] - found["removed"] == len(kept)
        return kept

    monday, tuesday = run("monday"), run("tuesday")
    all_rows = [json.loads(line) for line in rows]
    expected = {row["id"] for row in nd.dedup(all_rows).kept.to_pylist()}
    blank = {row["id"] for row in all_rows if row["source"] == "blank"}
    assert set(monday + tuesday) == expected
    assert set(monday) & set(tuesday) <= blank  # documents without words are near nothing
    assert (run("monday"), run("tuesday")) == (monday, tuesday)


def test_the_dagster_asset(tmp_path):
    dagster = pytest.importorskip("dagster", reason="Dagster is not installed")
    module = example("dagster_assets")
    (tmp_path / "incoming").mkdir()
    shutil.copy(EXAMPLES / "sample.jsonl", tmp_path / "incoming")
    paths = {"source": f"{tmp_path}/incoming", "output": f"{tmp_path}/clean"}
    config = {"ops": {
        name: {"config": paths} for name in ("clean_corpus", "clean_corpus_most_documents_are_kept")
    }}  # fmt: skip
    for _ in range(2):  # the second run replaces the folder
        with dagster.DagsterInstance.ephemeral() as instance:
            ran = dagster.materialize(
                [module.clean_corpus, module.most_documents_are_kept],
                instance=instance,
                run_config=config,
            )
    assert ran.success
    (made,) = ran.asset_materializations_for_node("clean_corpus")
    expected = nd.dedup(EXAMPLES / "sample.jsonl").summary
    for name in ("documents", "removed", "clusters"):
        assert made.metadata[name].value == expected[name] > 0
    assert Path(made.metadata["report"].value).exists()
    (check,) = ran.get_asset_check_evaluations()
    assert check.passed
