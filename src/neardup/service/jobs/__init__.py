"""Jobs of the service: dedup, tune and sweep over files in the data folder."""

from neardup.service.jobs.jobs import Jobs, QueueFull
from neardup.service.jobs.record import result_file, result_folder

__all__ = ["Jobs", "QueueFull", "result_file", "result_folder"]
