"""Unit vectors spread evenly over the sphere, to project sums of features onto."""

from neardup.sphere.cache import cache_folder, sphere_vectors
from neardup.sphere.optimum import angle_bound, best_angle
from neardup.sphere.projection import dots, project
from neardup.sphere.sphere import Sphere
from neardup.sphere.spread import Progress, spread

__all__ = [
    "Progress",
    "Sphere",
    "angle_bound",
    "best_angle",
    "cache_folder",
    "dots",
    "project",
    "sphere_vectors",
    "spread",
]
