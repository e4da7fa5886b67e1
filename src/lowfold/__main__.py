"""`python -m lowfold`, the command `lowfold` of this interpreter."""

from lowfold.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
