"""An Airflow DAG: every day, pass on what is new in the delivery of that day.

Put the file into the folder of DAGs, and set NEARDUP_DATA to the folder with the deliveries. A
delivery is compared with itself and with all earlier ones, which an index remembers. A task that is
repeated, after a failure or by hand, gives the same rows again. It needs Airflow 3.
"""

from __future__ import annotations

import os
from datetime import datetime
from importlib.util import find_spec

import neardup as nd

DATA = os.environ.get("NEARDUP_DATA", "/data")


def clean_delivery(delivery: str, output: str, index: str) -> dict[str, int]:
    """Write the new documents of a delivery to a folder, and add them to the index."""
    result = nd.dedup(delivery, against=index, update=True)
    result.save(output, overwrite=True)
    return {name: result.summary[name] for name in ("documents", "removed")}


if find_spec("airflow"):  # without it, the function above is still of use
    from airflow.sdk import dag, task

    @dag(schedule="@daily", start_date=datetime(2026, 1, 1), catchup=False)
    def clean_deliveries() -> None:
        """One task, with the paths of the day."""
        task(clean_delivery)(
            delivery=DATA + "/incoming/{{ ds }}.jsonl",
            output=DATA + "/clean-{{ ds }}",
            index=DATA + "/seen.index",
        )

    clean_deliveries()
