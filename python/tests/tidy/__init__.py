"""What keeps the house tidy: imports run downwards, and nothing grows out of sight."""
