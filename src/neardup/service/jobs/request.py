"""What a job is asked to do: the request of a client, checked, and the command that does it.

Only what is listed here can be set. Each setting becomes one argument, `--option=value`, so that a
value is never taken for an option; names of files follow `--`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from neardup.errors import InputError, SettingError
from neardup.frozen import dataclass
from neardup.service.data_root import DataRoot, shown
from neardup.settings import SETTINGS, require_known, seconds_of

KINDS = ("dedup", "tune", "sweep")
SETTINGS_FILE, TUNING_FILE = "settings.toml", "tuning.json"
_KEYS = ("kind", "inputs", "against", "settings")
_LONGEST = 10_000  # characters of a value
_MOST_VALUES = 100
_LARGEST = 2**63 - 1
_SOME_HASH = "@0"

# Kinds of values, in the words of a message.
_TEXT, _FLAG = "a string", "true or false"
_WHOLE, _NUMBER = "a whole number", "a number"
_SIZE = "a string such as '2GB' or a whole number of bytes"
_TIME = "a string such as '60s' or a number of seconds"
_TEXTS = "a list of strings"
_WHOLES = "a whole number or a list of whole numbers"
_NUMBERS = "a number or a list of numbers"
_TYPES: dict[str, tuple[type, ...]] = {
    _TEXT: (str,),
    _FLAG: (bool,),
    _WHOLE: (int,),
    _NUMBER: (int, float),
    _SIZE: (str, int),
    _TIME: (str, int, float),
    _TEXTS: (str,),
    _WHOLES: (int,),
    _NUMBERS: (int, float),
}
_LISTS = (_TEXTS, _WHOLES, _NUMBERS)
_OF_THE_TABLE = {(str,): _TEXT, (int,): _WHOLE, (int, float): _NUMBER, (str, int): _SIZE}


def _from_the_table(*names: str) -> dict[str, str]:
    return {name: _OF_THE_TABLE[SETTINGS[name].types] for name in names}


_INPUT = ("text", "id", "read_as", "suffix", "max_document")
# For each kind of job, the settings that it takes, and what their values are.
_TAKEN: dict[str, dict[str, str]] = {
    "dedup": {
        **_from_the_table(*SETTINGS),
        **{"preset": _TEXT, "format": _TEXT, "within": _FLAG, "copies": _FLAG, "strict": _FLAG},
        "decisions": _TEXT,
    },
    "tune": {
        **_from_the_table("threshold", "recall", "similarity", *_INPUT, "features", "weights"),
        **_from_the_table("hash", "cluster", "candidates", "memory", "threads"),
        **{"budget": _TIME, "sample": _WHOLE, "labels": _TEXT},
    },
    "sweep": {
        **{"bands": _WHOLES, "band_bits": _WHOLES, "plans": _TEXTS, "threshold": _NUMBERS},
        **{"exact": _FLAG, "top": _WHOLE, "preset": _TEXT},
        **_from_the_table("similarity", *_INPUT, "features", "weights", "bits", "hash", "tie"),
        **_from_the_table("memory", "threads"),
    },
}
_PATHS = {"decisions", "model", "labels"}  # settings that name a file in the data folder
_REPEATED = {"plans": "--plan"}  # options that are given once for each value


@dataclass(frozen=True)
class JobRequest:
    """A request without mistakes that can be seen before the job runs."""

    kind: str
    inputs: tuple[str, ...]
    against: tuple[str, ...]
    settings: dict[str, Any]

    @classmethod
    def of(cls, request: Any, root: DataRoot) -> JobRequest:
        """Check the request of a client, an object with `kind`, `inputs`, `against`, `settings`.

        `SettingError` names the setting that is wrong, `InputError` the path. It lists folders and
        loads what the settings need: not for the thread of an event loop.
        """
        if not isinstance(request, Mapping):
            raise SettingError(
                'a job is an object such as {"kind": "dedup", "inputs": ["corpus/*.jsonl"]}'
            )
        for key in request:
            if key not in _KEYS:
                raise SettingError(f"a job has no {shown(key)!r}; it has {', '.join(_KEYS)}")
        kind = request.get("kind")
        if not isinstance(kind, str) or kind not in KINDS:
            raise SettingError(f"kind={_said(kind)} is unknown; choose {', '.join(KINDS)}")
        settings = _checked(kind, request.get("settings"))
        against = request.get("against") or ()
        if against and kind != "dedup":
            raise SettingError(f"against is for dedup; {kind} reads only its inputs")
        if settings.get("within") and not against:
            raise SettingError("within=true needs another collection; name it with against")
        found = cls(kind, _names(request.get("inputs")), _names(against), settings)
        found.require_paths(root)
        _REFUSING[kind](settings)
        return found

    def require_paths(self, root: DataRoot) -> None:
        """Refuse paths that do not exist or lead out of the data folder."""
        root.expand(self.inputs)
        for name in _PATHS & self.settings.keys():
            root.expand([self.settings[name]])
        if self.against:
            root.expand(self.against, indexes=True)
            of_indexes = (f"{root.indexes.name}/", f"{root.backups.name}/")
            index = next((one for one in self.against if one.startswith(of_indexes)), None)
            if index is not None and len(self.against) > 1:
                raise InputError(
                    f"{shown(index)} is an index, which cannot be combined with other collections; "
                    "compare with it in a job of its own"
                )

    def command(self, output: str, threads: int) -> list[str]:
        """The arguments of `neardup`, to be run in the data folder; `output` is a folder there."""
        place = f"{output}/{SETTINGS_FILE}" if self.kind == "tune" else output
        arguments = [self.kind, f"--output={place}", "--progress=json", "--json"]
        for name, value in {"threads": threads, **self.settings}.items():
            arguments += _options(name, value)
        arguments += [f"--against={_file_name(one)}" for one in self.against]
        return [*arguments, "--", *map(_file_name, self.inputs)]


def settings_of(kind: str) -> tuple[str, ...]:
    """The names of the settings that a kind of job takes."""
    return tuple(_TAKEN[kind])


def _names(value: Any) -> tuple[str, ...]:
    """File names, which `DataRoot` checks; what is no list is left for it to refuse."""
    return tuple(value) if isinstance(value, list | tuple) else cast(Any, value)


def _checked(kind: str, settings: Any) -> dict[str, Any]:
    """The settings that were given, each of the right type."""
    if settings is None:
        return {}
    if not isinstance(settings, Mapping):
        raise SettingError('settings must be an object, for example {"threshold": 0.8}')
    taken = _TAKEN[kind]
    require_known((shown(name) for name in settings), taken, where=f"{kind}: ")
    given = {name: value for name, value in settings.items() if value is not None}
    for name, value in given.items():
        _require_type(name, value, taken[name])
    return given


def _require_type(name: str, value: Any, kind: str) -> None:
    many = isinstance(value, list) and kind in _LISTS
    if many and not 1 <= len(value) <= _MOST_VALUES:
        raise SettingError(f"{name} must have 1 to {_MOST_VALUES} values, and has {len(value):,}")
    if kind == _TEXTS and not many:
        raise SettingError(f"{name}={_said(value)} must be {kind}")
    types = _TYPES[kind]
    for one in value if many else [value]:
        right = isinstance(one, types) and (bool in types or not isinstance(one, bool))
        if not right:
            raise SettingError(f"{name}={_said(value)} must be {kind}")
        if isinstance(one, str):
            _require_text(name, one)
        elif not -_LARGEST <= one <= _LARGEST:
            raise SettingError(f"{name} must be a number that 64 bits can hold; choose another")


def _require_text(name: str, text: str) -> None:
    if len(text) > _LONGEST:
        raise SettingError(f"{name} has {len(text):,} characters; give at most {_LONGEST:,}")
    if "\0" in text or any("\ud800" <= sign <= "\udfff" for sign in text):
        raise SettingError(f"{name}={_said(text)} is not valid text; leave out null characters")


def _refuse_dedup(settings: dict[str, Any]) -> None:
    from neardup.collection.settings import DedupSettings
    from neardup.deduplication.save import require_format
    from neardup.pairs.choose import require_plan

    chosen = {name: value for name, value in settings.items() if name in SETTINGS}
    # The job loads the model, whose name is that of a file in the data folder.
    if chosen.pop("model", None) is not None and chosen.get("similarity") == "model":
        del chosen["similarity"]
    given = chosen.get("projection", "")
    # With some hash, the vectors are not computed here, which may take minutes, but by the job.
    assumed = given + _SOME_HASH
    if given and "@" not in given:
        chosen["projection"] = assumed
    try:
        require_plan(DedupSettings.of(preset=settings.get("preset"), **chosen))
    except SettingError as error:
        raise SettingError(str(error).replace(assumed, given)) from None
    if "format" in settings:
        require_format(settings["format"])


def _refuse_tune(settings: dict[str, Any]) -> None:
    from neardup.collection.settings import DedupSettings
    from neardup.lab.tune.plans import BANDS

    chosen = {name: value for name, value in settings.items() if name in SETTINGS}
    checked = DedupSettings.of(**chosen)
    if checked.similarity == "hamming":
        raise SettingError("similarity='hamming' needs no tuning; run dedup with it")
    if checked.candidates not in ("auto", BANDS):
        raise SettingError(
            f"candidates={checked.candidates!r} cannot be tuned; choose auto or {BANDS}"
        )
    if settings.get("sample", 2) < 2:
        raise SettingError(f"sample={settings['sample']} must be a number of documents, 2 or more")
    seconds_of(settings.get("budget", "60s"), "budget")


def _refuse_sweep(settings: dict[str, Any]) -> None:
    from neardup.lab.sweep.request import SweepRequest

    if settings.get("top", 0) < 0:
        raise SettingError(f"top={settings['top']} must be a number of pairs, 0 or more")
    SweepRequest.of(**{k: v for k, v in settings.items() if k not in ("exact", "top")})


# For each kind of job, a function that raises a `SettingError` for impossible values.
_REFUSING: dict[str, Callable[[dict[str, Any]], None]] = {
    "dedup": _refuse_dedup,
    "tune": _refuse_tune,
    "sweep": _refuse_sweep,
}


def _options(name: str, value: Any) -> list[str]:
    option = "--" + name.replace("_", "-")
    if isinstance(value, bool):
        return [option] if value else []
    if name in _REPEATED:
        return [f"{_REPEATED[name]}={one}" for one in value]
    if isinstance(value, list):
        return [f"{option}={','.join(map(str, value))}"]
    return [f"{option}={value}"]


def _file_name(name: str) -> str:
    """A name that is never an option, nor standard input."""
    return f"./{name}" if name.startswith("-") else name


def _said(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:100]}…"
