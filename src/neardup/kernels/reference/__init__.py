"""The slow, obvious twins of the native kernels: the oracles of the tests."""
