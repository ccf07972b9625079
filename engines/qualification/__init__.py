"""Is what was installed here what was released, and does it do here what it promises (IQ and OQ)."""
