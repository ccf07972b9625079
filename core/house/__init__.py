"""What any careful service needs and no study knows (design.md 2)."""
