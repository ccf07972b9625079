"""The hospital's log-in: an OpenID Connect provider (OpenID Connect Core 1.0, Discovery 1.0, RFC 7636)."""
