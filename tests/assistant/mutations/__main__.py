"""`python -m tests.assistant.mutations`: by kind, and each lie that goes out and each truth that does not."""

from __future__ import annotations

from tests.assistant.mutations.run import mutants, parents, played, rewritings, told, truths


def main() -> None:
    """Print both tables."""
    whose = parents()
    print(f"true answers that go out: {len(whose)} of {len(truths())}")
    print(told("lies that go out", played(mutants(), whose), wanted=False))
    print(told("\nrewritings that do not go out", played(rewritings(), whose), wanted=True))


if __name__ == "__main__":
    main()
