"""`python -m simulators --port 9000`: the stand-in servers of the demo (contracts.md, stand-ins)."""

from demo.simulators.__main__ import main

if __name__ == "__main__":
    raise SystemExit(main())
