"""The index on disk: a folder with an LMDB environment."""
