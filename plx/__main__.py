"""``python -m plx`` is ``plx``."""

from plx.cli import main

if __name__ == "__main__":
    main()
