"""What clusters are called that nobody has named yet, and how an address is written without its password."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import SplitResult, urlsplit

from headgate.options.service import ClusterOptions

_HERE = frozenset({"localhost", "127.0.0.1", "::1"})


def name_clusters(urls: Iterable[str]) -> tuple[ClusterOptions, ...]:
    """
    Give each address the options of a cluster, called after its host; `local` on this machine.

    Of several at one host all but the first have their port in the name, and a number where even that is taken.

    Raises:
        ValueError: an address is none.
    """
    named: dict[str, ClusterOptions] = {}
    for url in dict.fromkeys(urls):
        name = next(name for name in _names(urlsplit(url)) if name not in named)
        named[name] = ClusterOptions(name=name, url=url)
    return tuple(named.values())


def _names(url: SplitResult) -> Iterable[str]:
    host = (url.hostname or "cluster").replace(":", "-")
    first = "local" if url.hostname in _HERE else host
    yield first
    yield (ported := f"{first}-{url.port or url.scheme}")
    yield from (f"{ported}-{number}" for number in range(2, 10_000))


def variable_of(cluster: ClusterOptions) -> str | None:
    """Name the environment variable that the password in an address belongs into; None where it has none."""
    if urlsplit(cluster.url).password is None:
        return None
    name = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in cluster.name).upper()
    return f"{'_' if name[0].isdigit() else ''}{name}_PASSWORD"


def address_of(cluster: ClusterOptions) -> str:
    """Write a cluster's address, with a reference in the place of a password."""
    variable = variable_of(cluster)
    if variable is None:
        return cluster.url
    url = urlsplit(cluster.url)
    where = url.netloc.rpartition("@")[2]
    return url._replace(netloc=f"{url.username}:${{env:{variable}}}@{where}").geturl()
