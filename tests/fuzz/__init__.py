"""Fuzzing of what reads rules, workflows and callbacks: `make fuzz SECONDS=300` (issue 3, must-show 4).

`checks` holds what must be true of any input, `build` makes inputs, each `fuzz_*` is one atheris
harness; `tests/fuzz` asks the same checks with hypothesis in the ordinary suite.
"""
