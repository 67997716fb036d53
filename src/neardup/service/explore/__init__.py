"""The pages of `neardup explore` in the service: its indexes, the runs of its jobs, the laboratory.

Imported when the first page is asked for: a service for programs alone needs no templates.
"""
