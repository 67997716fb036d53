"""The twins of the native kernels, slow and obvious: the oracles of the tests."""
