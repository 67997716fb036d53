"""The lab: known systems to repeat, and ways to try settings out."""

from neardup.lab.presets import PRESETS, Preset, preset

__all__ = ["PRESETS", "Preset", "preset"]
