"""
The log in a bucket of an object store: an upload is whole or not there, and replaces nothing if so asked.

Such a store knows no folders and no renames. What is asked of it is that uploads heed `If-None-Match: *`, and that a
listing shows what was written before it: Amazon's S3 and most others of its kind do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Any

from headgate.errors import ConfigError
from headgate.samplelog.ranged import ranged

if TYPE_CHECKING:
    from obstore.store import ClientConfig, ObjectStore, RetryConfig

_FORSAKEN = timedelta(minutes=10)
"""Age from which on the lock of a process that may have died counts for nothing."""
_CLIENT: ClientConfig = {"allow_http": True, "connect_timeout": timedelta(seconds=5), "timeout": timedelta(seconds=30)}
_RETRIES: RetryConfig = {"max_retries": 3, "retry_timeout": timedelta(seconds=20)}
"""A store that does not answer must not hold up a cycle for long: the next one asks again."""


@dataclass(frozen=True, slots=True)
class ObjectPath:
    """Names an object, or all objects below it, the way a path names a file or a folder."""

    root: str
    """URL of the log, as Spark reads it."""
    store: ObjectStore = field(compare=False, repr=False)
    """Has the log at its root."""
    key: str = ""

    @property
    def name(self) -> str:
        """The part behind the last slash."""
        return self.key.rpartition("/")[2]

    def __truediv__(self, name: str) -> ObjectPath:
        """Give what has that name below this one."""
        return replace(self, key=f"{self.key}/{name}" if self.key else name)

    def __str__(self) -> str:
        """Give the URL."""
        return f"{self.root}/{self.key}" if self.key else self.root


def root_at(url: str, endpoint: str | None) -> ObjectPath:
    """
    Give the root of a log; nothing is contacted.

    Args:
        url: `s3a://bucket/prefix`.
        endpoint: URL of a store other than Amazon's.

    Raises:
        ConfigError: what reads buckets is not installed.
    """
    try:
        from obstore.store import S3Store  # noqa: PLC0415 - only such a log needs it
    except ImportError as error:
        message = f"log.path is {url}, and obstore is not installed. Hint: pip install 'headgate[s3]'"
        raise ConfigError([message]) from error
    try:
        with translated():
            store = S3Store.from_url(url, client_options=_CLIENT, retry_config=_RETRIES, **_own(endpoint))
    except (OSError, ValueError) as error:
        message = f"log.path: {url} cannot be used: {_essence(error)}"
        raise ConfigError([message]) from error
    return ObjectPath(url.rstrip("/"), store)


def _own(endpoint: str | None) -> dict[str, Any]:
    """Give what makes an endpoint count for this store, whatever the environment says of others."""
    if endpoint is None:
        return {}
    return {"endpoint": endpoint, "virtual_hosted_style_request": False}


def write_whole(file: ObjectPath, write: Callable[[Path], None]) -> None:
    """Let `write` fill a file here, then upload it; an object of that name is replaced."""
    with TemporaryDirectory(prefix="headgate-") as here:
        finished = Path(here) / file.name
        write(finished)
        with translated():
            file.store.put(file.key, finished)


def create_text(file: ObjectPath, text: str) -> bool:
    """Upload a small object unless there is one of that name; tells whether it was made."""
    try:
        with translated():
            file.store.put(file.key, text.encode(), mode="create")
    except FileExistsError:
        return False
    return True


def read_text(file: ObjectPath) -> str:
    """Give an object's text."""
    with translated():
        return bytes(file.store.get(file.key).bytes()).decode()


@contextmanager
def opened(file: ObjectPath) -> Iterator[IO[bytes]]:
    """Open an object; only the parts of it are fetched that are read."""
    with translated(), ranged(file.store, file.key) as source:
        yield source


def exists(file: ObjectPath) -> bool:
    """Tell whether there is an object of that name."""
    return _modified(file) is not None


def names(folder: ObjectPath) -> list[str]:
    """List all names below one in order, of objects and of folders; where no object is there are none."""
    with translated():
        found = folder.store.list_with_delimiter(folder.key or None)
    paths = [*found["common_prefixes"], *(each["path"] for each in found["objects"])]
    return sorted(path.rstrip("/").rpartition("/")[2] for path in paths)


def listing(folder: ObjectPath) -> Mapping[str, list[str]]:
    """List what is in each folder below one: a thousand names a call, however many folders there are."""
    inside: dict[str, list[str]] = defaultdict(list)
    for path in sorted(_below(folder)):
        below, _, name = path.removeprefix(f"{folder.key}/").rpartition("/")
        if below:
            inside[below].append(name)
    return inside


def remove(files: Sequence[ObjectPath]) -> None:
    """
    Remove objects; one that is gone already is no error.

    Some stores fail a whole call for an object that another process removes in the same moment: what is left counts.
    """
    if not files:
        return
    try:
        with translated():
            files[0].store.delete([file.key for file in files])
    except OSError:
        left = [file for file in files if exists(file)]
        if len(left) == len(files):
            raise
        remove(left)


@contextmanager
def held(lock: ObjectPath) -> Iterator[bool]:
    """Hold a lock until it is old; yields False if another process has it."""
    alone = create_text(lock, "") or (_is_forsaken(lock) and _claimed_anew(lock))
    try:
        yield alone
    finally:
        if alone:
            # One that stays is forsaken before long, and what was done under it may have its own failure to tell.
            with suppress(OSError):
                remove([lock])


def _is_forsaken(lock: ObjectPath) -> bool:
    since = _modified(lock)
    return since is None or datetime.now(UTC) - since > _FORSAKEN


def _claimed_anew(lock: ObjectPath) -> bool:
    remove([lock])
    return create_text(lock, "")


def _modified(file: ObjectPath) -> datetime | None:
    try:
        with translated():
            return file.store.head(file.key)["last_modified"]
    except FileNotFoundError:
        return None


def _below(folder: ObjectPath) -> list[str]:
    with translated():
        return [each["path"] for part in folder.store.list(folder.key or None) for each in part]


@contextmanager
def translated() -> Iterator[None]:
    """Turn what the client raises into an `OSError`, of one line."""
    try:
        yield
    except FileNotFoundError as error:
        raise FileNotFoundError(_essence(error)) from error
    except Exception as error:
        from obstore.exceptions import (  # noqa: PLC0415 - only such a log needs it
            AlreadyExistsError,
            BaseError,
            PreconditionError,
        )

        if isinstance(error, AlreadyExistsError):
            raise FileExistsError(_essence(error)) from error
        if isinstance(error, PreconditionError):  # what was being read has been replaced
            raise FileNotFoundError(_essence(error)) from error
        if isinstance(error, BaseError):
            raise OSError(_essence(error)) from error
        raise


def _essence(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
