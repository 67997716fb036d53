"""The documentation site: its pages, its navigation, the build and the checks of what was built."""
