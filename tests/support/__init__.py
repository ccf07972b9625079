"""What several tests need: stand-ins, the demo study, tasks run in this process."""
