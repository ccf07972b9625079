"""Tables of the WeCom channel."""
