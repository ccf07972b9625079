"""The validation pack: what was promised, the tests that hold it, and how they last ended."""
