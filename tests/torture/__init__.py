"""Hostile trials of the whole program: `make torture`, and in short in `make test`.

Each campaign is a module with `run(rounds, seed)`, which gives what it counted, and raises
AssertionError with the seed, the round and the command when something that is promised does not
hold. docs/how-it-works/reliability.md says what is promised.
"""
