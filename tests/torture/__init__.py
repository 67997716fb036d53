"""Stress tests of the whole program: `make torture`, and a short version in `make test`.

Each campaign is a module with `run(rounds, seed)`, which returns counts, and raises an
AssertionError with the seed, the round and the command when a promise is broken. The promises are
in docs/how-it-works/reliability.md.
"""
