"""On which file system a file would be."""

from __future__ import annotations

from pathlib import Path

import pytest

from headgate.stores.file_system import network_file_system

_MOUNTS = r"""
22 1 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,discard shared:1 - ext4 /dev/vda rw
30 27 0:40 / /data rw shared:2 master:1 - nfs4 server:/export rw
31 30 254:1 / /data/local rw - xfs /dev/vdb rw
32 27 0:41 / /with\040space rw - fuse.sshfs user@host: rw
33 27 0:42 / /twice rw - nfs server:/a rw
34 33 0:43 / /twice rw - tmpfs tmpfs rw
""".lstrip()


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/var/headgate.db", None),
        ("/data/headgate.db", "nfs4"),
        ("/data/not/there/yet.db", "nfs4"),
        ("/data/local/headgate.db", None),
        ("/database/headgate.db", None),
        ("/with space/headgate.db", "fuse.sshfs"),
        ("/twice/headgate.db", None),
    ],
)
def test_the_nearest_mount_above_counts(tmp_path: Path, path: str, found: str | None) -> None:
    """Of two at one place it is the later one, which hides the other."""
    mounts = tmp_path / "mountinfo"
    mounts.write_text(_MOUNTS)
    assert network_file_system(Path(path), mounts) == found


def test_a_system_that_does_not_tell_is_believed(tmp_path: Path) -> None:
    """Elsewhere than on Linux nothing is known, and nothing refused."""
    assert network_file_system(Path("/data/headgate.db"), tmp_path / "absent") is None
