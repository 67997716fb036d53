"""`python -m neardup`: the same as `neardup`."""

from neardup.cli.entry import main

if __name__ == "__main__":
    main()
