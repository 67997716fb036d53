"""Run the native tests on instruction sets that this machine does not have."""
