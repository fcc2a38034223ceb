"""How Kubernetes' API is reached, by the official client, and by whom."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from datetime import timedelta
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from headgate.errors import ConfigError, RefusedError

_IN_CLUSTER = "KUBERNETES_SERVICE_HOST"
"""What Kubernetes sets in every container of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """Where the API and the right to use it are found."""

    kubeconfig: str = ""
    """Empty: that of the pod in which Headgate runs, else `$KUBECONFIG`, else the one of the home directory."""
    context: str = ""
    """Empty: the file's current one."""
    time_limit: timedelta = timedelta(seconds=10)
    """Of one call."""
    opening_limit: timedelta = timedelta(minutes=1)
    """Of connecting: a kubeconfig may name a program that fetches the credentials."""

    def __post_init__(self) -> None:
        """
        Look whether the client is there. An extra: only who declares such a provider needs it.

        Raises:
            ConfigError: it is not.
        """
        if find_spec("kubernetes") is None:
            raise ConfigError(["the client of Kubernetes is missing. Hint: pip install headgate[kubernetes]"])

    async def open(self) -> Any:
        """
        Give a client; nothing is sent yet.

        Raises:
            RefusedError: there is no kubeconfig, or it makes no sense.
        """
        # In a thread, because the import takes seconds. Only what calls need: the objects of the API take more.
        library = await asyncio.to_thread(import_module, "kubernetes.aio.client.api_client")
        config = import_module("kubernetes.aio.config")
        configuration = library.Configuration()
        try:
            await self._configure(config, configuration)
        except config.ConfigException as error:
            message = f"there is no way to Kubernetes: {error}. Hint: name a kubeconfig, and one of its contexts"
            raise RefusedError(message) from error
        return library.ApiClient(configuration)

    async def _configure(self, config: Any, configuration: Any) -> None:
        if not self.kubeconfig and _IN_CLUSTER in os.environ:
            config.load_incluster_config(client_configuration=configuration)
            return
        if self._is_gone():
            message = f"{self.kubeconfig} is not there"
            raise config.ConfigException(message)
        await config.load_kube_config(
            config_file=self.kubeconfig or None,
            context=self.context or None,
            client_configuration=configuration,
            persist_config=False,
        )

    def _is_gone(self) -> bool:
        """Look before the client does, which would print that it found nothing."""
        return bool(self.kubeconfig) and not Path(self.kubeconfig).is_file()
