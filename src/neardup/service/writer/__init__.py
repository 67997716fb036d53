"""The one process that changes indexes and runs jobs, for all workers."""
