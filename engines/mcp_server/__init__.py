"""The read-only MCP server: a study's data for a program of a member's (docs/mcp.md)."""
