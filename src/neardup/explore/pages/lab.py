"""`/lab`: the laboratory, four experiments that update as one types.

Each has a page, whose fields are a form that works without JavaScript, and the same name with
`.json`, which has the part of the page that changes and its numbers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from neardup.explore.http import JSON, RefusedError, Request, Response
from neardup.explore.lab import curve, hashes, plots, sphere, texts
from neardup.explore.lab.asked import Asked
from neardup.explore.lab.ball import ball
from neardup.explore.rendering import rendered
from neardup.explore.site import Site
from neardup.frozen import dataclass

_LONGEST_ADDRESS = 8_000


@dataclass(frozen=True)
class Experiment:
    """One experiment: `look` reads the form and computes, `drawn` has its plots."""

    name: str
    title: str
    what: str
    look: Callable[[Asked], Any]
    drawn: Callable[[Any], Mapping[str, Any]]
    choices: Mapping[str, Any]

    @property
    def template(self) -> str:
        """The part of the page that changes."""
        return f"lab/{self.name}_shown.html"


EXPERIMENTS = {
    one.name: one
    for one in (
        Experiment(
            "texts",
            "Two texts",
            "A text is cut into features, and all of them vote on each bit of its fingerprint. "
            "Similar texts share most features, so few bits differ.",
            texts.look,
            lambda shown: {},
            {
                "examples": texts.EXAMPLES,
                "families": texts.FAMILIES,
                "features": texts.FEATURES,
                "weights": texts.WEIGHTS,
                "most_bits": texts.MOST_BITS,
                "most": texts.MOST_CHARACTERS,
                "most_in_address": texts.MOST_IN_ADDRESS,
            },
        ),
        Experiment(
            "curve",
            "S-curve",
            "A plan compares only fingerprints that agree on some of their bits. The curve shows "
            "how likely it finds a pair, by the similarity of the pair.",
            curve.look,
            lambda shown: {"plot": plots.curves_plot(shown)},
            {"plans": curve.PLANS, "measures": curve.MEASURES, "most_bits": curve.MOST_BITS},
        ),
        Experiment(
            "hashes",
            "Load of a hash table",
            "A hash family puts each key into a slot of a table. A good one fills the slots as "
            "evenly as chance, whatever the keys are.",
            hashes.look,
            lambda shown: {
                "plots": [
                    (
                        plots.chains_plot(one, name=f"chains-{place}"),
                        plots.slots_plot(one, name=f"slots-{place}"),
                    )
                    for place, one in enumerate(shown.families)
                ]
            },
            {
                "kinds": hashes.KEYS,
                "families": hashes.families_for(257),
                "most_keys": hashes.MOST_KEYS,
                "most_slots": hashes.MOST_SLOTS,
            },
        ),
        Experiment(
            "sphere",
            "Settling sphere",
            "Lines through the centre of a sphere have charges at both ends, which repel each "
            "other until they are spread evenly. Fingerprints can be projected onto such lines.",
            sphere.look,
            lambda shown: {"ball": ball(shown), "plot": plots.angles_plot(shown)},
            {
                "dimensions": sphere.DIMENSIONS,
                "most_lines": sphere.MOST_LINES,
                "largest_seed": sphere.LARGEST_SEED,
            },
        ),
    )
}


def index(site: Site, request: Request) -> Response:
    """What the laboratory has, with a small example of each experiment."""
    drawn = {}
    for one in EXPERIMENTS.values():
        shown = one.look(Asked({"step": ["20"]} if one.name == "sphere" else {}))
        drawn[one.name] = {"shown": shown, **one.drawn(shown)}
    return site.page(request, "lab/index.html", experiments=EXPERIMENTS.values(), drawn=drawn)


def show(site: Site, request: Request) -> Response:
    """One experiment, as a page or, under `NAME.json`, for the script of that page.

    Fields that are wrong have a sentence beside them, and the page the status 400.
    """
    name = request.argument.removesuffix(".json")
    if name not in EXPERIMENTS:
        raise RefusedError(404, "There is no such experiment.")
    one = EXPERIMENTS[name]
    if request.argument != name:
        return _part(site, one, request)
    if request.method == "POST":
        raise RefusedError(405, "This address takes GET alone.")
    asked = Asked(request.query)
    shown = one.look(asked)
    return site.page(
        request,
        f"lab/{one.name}.html",
        status=400 if asked.errors else 200,
        experiment=one,
        experiments=EXPERIMENTS.values(),
        asked=asked,
        **one.choices,
        **_context(one, shown),
    )


def _part(site: Site, one: Experiment, request: Request) -> Response:
    """The part of a page that changes, and its numbers.

    Texts that are too long for an address come as a form. A field that is wrong is no failure
    here: it may be half typed.
    """
    asked = Asked(request.form if request.method == "POST" else request.query)
    shown = one.look(asked)
    address, is_whole = _address(site, one, asked)
    answer: dict[str, Any] = {"errors": asked.errors, "address": address, "whole": is_whole}
    if shown is not None:
        answer["html"] = rendered(one.template, site=site, **_context(one, shown))
        answer["summary"], answer["values"] = shown.summary, shown.values()
    return Response.of(json.dumps(answer), JSON)


def _context(one: Experiment, shown: Any) -> dict[str, Any]:
    """What the template sees, whether all fields are right or not."""
    return {"shown": shown} if shown is None else {"shown": shown, **one.drawn(shown)}


def _address(site: Site, one: Experiment, asked: Asked) -> tuple[str, bool]:
    """The address that shows this again, and whether it is whole: texts may be too long."""
    path = site.url(f"/lab/{one.name}")
    for without in ((), ("a", "b")):
        query = asked.query(without)
        address = f"{path}?{query}" if query else path
        if len(address) <= _LONGEST_ADDRESS:
            return address, not without
    return path, False
