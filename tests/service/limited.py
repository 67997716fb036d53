"""A service with limits that the command has no options for: `python -m tests.service.limited`.

Arguments: the data folder, and the settings and limits as a JSON object.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from neardup.cli import stopping
from neardup.service.limits import Limits
from neardup.service.settings import ServeSettings
from neardup.service.supervisor import Supervisor


def main(data: str, given: str) -> None:
    stopping.watch()
    settings = json.loads(given)
    supervisor = Supervisor(
        ServeSettings(
            Path(data),
            port=0,
            limits=Limits(**settings.pop("limits", {})),
            **{"workers": 2} | settings,
        )
    )
    stopping.instead(supervisor.stop)
    supervisor.run(
        lambda url: print(f"neardup serves {data} on {url}", file=sys.stderr, flush=True)
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
