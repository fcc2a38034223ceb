"""On what kind of file system a path is, as Linux tells; SQLite's locks do not hold on those shared by network."""

from __future__ import annotations

from pathlib import Path

MOUNTS = Path("/proc/self/mountinfo")
_ESCAPES = {r"\040": " ", r"\011": "\t", r"\012": "\n", r"\134": "\\"}

# Not 9p: some containers have nothing else, and it is one host's.
_NETWORK = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "lustre", "gpfs", "beegfs", "ocfs2", "gfs2", "pvfs2"}
_NETWORK_FUSE = {
    "sshfs",
    "glusterfs",
    "ceph",
    "s3fs",
    "gcsfuse",
    "mount-s3",
    "blobfuse",
    "blobfuse2",
    "juicefs",
    "cvmfs",
}


def network_file_system(path: Path, mounts: Path = MOUNTS) -> str | None:
    """
    Name the network file system that a path is on; None if it is on none, or this system does not tell.

    Args:
        path: need not be there yet.
        mounts: the list of mounts, as Linux's `proc(5)` describes `mountinfo`.
    """
    kind = _kind(path.resolve(), mounts)
    is_shared = kind in _NETWORK or kind.removeprefix("fuse.") in _NETWORK_FUSE
    return kind if is_shared else None


def _kind(path: Path, mounts: Path) -> str:
    """Give the type of the mount that is nearest above a path; of several at one place the last one hides the rest."""
    try:
        lines = mounts.read_text().splitlines()
    except OSError:
        return ""
    above = [(len(point.parts), kind) for point, kind in map(_mount, lines) if path.is_relative_to(point)]
    return max(reversed(above), key=lambda found: found[0], default=(0, ""))[1]


def _mount(line: str) -> tuple[Path, str]:
    fields, _, source = line.partition(" - ")
    point = fields.split()[4]
    for code, character in _ESCAPES.items():
        point = point.replace(code, character)
    return Path(point), source.split()[0]
