"""Datasets of Hugging Face, as `save_to_disk` writes them: Arrow files, and what they hold."""

from __future__ import annotations

import os

import orjson

from neardup.errors import InputError

_DATASET, _SPLITS = "state.json", "dataset_dict.json"


def dataset_files(folder: str) -> list[str] | None:
    """The Arrow files of a saved dataset, in order; None if the folder is not one.

    A folder with several splits is refused, with their names.
    """
    if os.path.isfile(os.path.join(folder, _SPLITS)):
        _refuse_splits(folder)
    state = os.path.join(folder, _DATASET)
    if not os.path.isfile(state):
        return None
    with open(state, "rb") as file:
        content = file.read()
    try:
        files = orjson.loads(content)["_data_files"]
        return [os.path.join(folder, each["filename"]) for each in files]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None  # a state.json of another program


def _refuse_splits(folder: str) -> None:
    with open(os.path.join(folder, _SPLITS), "rb") as file:
        try:
            splits = [str(name) for name in orjson.loads(file.read())["splits"]]
        except (orjson.JSONDecodeError, KeyError, TypeError):
            return
    raise InputError(splits_message(folder.rstrip("/"), splits))


def splits_message(folder: str, splits: list[str]) -> str:
    """The sentence for a dataset with splits, on the command line."""
    names = [f"{folder}/{split}" for split in splits]
    against = (
        f"; to remove from one what is in another, add --against {names[1]}" if names[1:] else ""
    )
    return f"{folder} is a dataset with splits; name one: {', '.join(names)}{against}"
