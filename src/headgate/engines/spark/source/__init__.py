"""A streaming source in Python that replays a load profile: partitions, admission control, latest offsets."""
