"""Unit vectors spread evenly over the sphere, onto which sums of features are projected."""

from neardup.sphere.projection import cache_folder, dots, project, sphere_vectors
from neardup.sphere.sphere import Sphere
from neardup.sphere.spread import Progress, Settling, angle_bound, best_angle, settling, spread

__all__ = [
    "Progress",
    "Settling",
    "Sphere",
    "angle_bound",
    "best_angle",
    "cache_folder",
    "dots",
    "project",
    "settling",
    "sphere_vectors",
    "spread",
]
