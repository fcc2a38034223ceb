"""The processes of a private Kubernetes on the loopback, whose only node and all pods are make-believe (KWOK)."""

from __future__ import annotations

import os
import secrets
import ssl
import subprocess
import time
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.request import HTTPSHandler, ProxyHandler, build_opener

import yaml

from headgate.engines.flink.local.loopback import HOST, free_ports
from headgate.engines.flink.local.processes import Child, Children

_PATIENCE_S = 240.0
_LEASE_S = "40"
"""Without leases the controllers would take the node for dead."""


@dataclass(kw_only=True)
class ControlPlane:
    """They run from `start` to `children.close`."""

    programs: Path
    directory: Path
    """For everything that they write; empty."""
    children: Children
    ports: tuple[int, ...] = field(default_factory=lambda: free_ports(5))
    token: str = field(default_factory=lambda: secrets.token_hex(16))

    def start(self) -> Path:
        """Start everything, wait until it answers, and give the kubeconfig of somebody who may do everything."""
        (self.directory / "tokens.csv").write_text(f'{self.token},admin,admin,"system:masters"\n')
        make_key = ["openssl", "genrsa", "-out", str(self._key), "2048"]
        subprocess.run(make_key, check=True, capture_output=True)
        self._start_storage()
        self._wait(self._start_server())
        kubeconfig = self._write_kubeconfig()
        self._start_controllers(kubeconfig)
        return kubeconfig

    def _start_storage(self) -> None:
        own, others = (f"http://{HOST}:{port}" for port in self.ports[1:3])
        flags = {
            "listen-client-urls": own,
            "advertise-client-urls": own,
            "listen-peer-urls": others,
            "initial-advertise-peer-urls": others,
            "initial-cluster": f"default={others}",
            "data-dir": str(self.directory / "etcd"),
            "unsafe-no-fsync": "true",
        }
        self._start("etcd", flags)

    def _start_server(self) -> Child:
        flags = {
            "etcd-servers": f"http://{HOST}:{self.ports[1]}",
            "bind-address": HOST,
            "secure-port": str(self.ports[0]),
            "cert-dir": str(self._certificate.parent),
            "advertise-address": HOST,
            "endpoint-reconciler-type": "none",
            "service-cluster-ip-range": "10.0.0.0/24",
            "authorization-mode": "RBAC",
            "token-auth-file": str(self.directory / "tokens.csv"),
            "service-account-issuer": "https://kubernetes.default.svc",
            "service-account-key-file": str(self._key),
            "service-account-signing-key-file": str(self._key),
        }
        return self._start("kube-apiserver", flags)

    def _start_controllers(self, kubeconfig: Path) -> None:
        own = {
            "kubeconfig": str(kubeconfig),
            "bind-address": HOST,
            "leader-elect": "false",
            "cert-dir": str(self.directory),
        }
        accounts = {"service-account-private-key-file": str(self._key), "root-ca-file": str(self._certificate)}
        self._start("kube-controller-manager", {**own, **accounts, "secure-port": str(self.ports[3])})
        self._start("kube-scheduler", {**own, "secure-port": str(self.ports[4])})
        fake = {
            "kubeconfig": str(kubeconfig),
            "manage-all-nodes": "true",
            "node-lease-duration-seconds": _LEASE_S,
            "config": str(self.programs / "kwok-stages.yaml"),
        }
        self._start("kwok", fake)

    def _start(self, program: str, flags: Mapping[str, str]) -> Child:
        words = [str(self.programs / program), *(f"--{flag}={value}" for flag, value in flags.items())]
        output = self.directory / f"{program}.log"
        return self.children.start(program, words, environment=os.environ, output=output)

    def _wait(self, server: Child) -> None:
        deadline = time.monotonic() + _PATIENCE_S
        while not self._is_ready():
            said = server.output.read_text(errors="replace")[-3000:]
            assert server.running, said
            assert time.monotonic() < deadline, said
            time.sleep(0.1)

    def _is_ready(self) -> bool:
        if not self._certificate.exists():
            return False
        try:
            trusted = HTTPSHandler(context=ssl.create_default_context(cafile=str(self._certificate)))
            with build_opener(ProxyHandler({}), trusted).open(f"https://{HOST}:{self.ports[0]}/readyz", timeout=5):
                return True
        except OSError:
            return False

    def _write_kubeconfig(self) -> Path:
        authority = b64encode(self._certificate.read_bytes()).decode()
        server = {"server": f"https://{HOST}:{self.ports[0]}", "certificate-authority-data": authority}
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "test", "cluster": server}],
            "users": [{"name": "test", "user": {"token": self.token}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
            "current-context": "test",
        }
        file = self.directory / "kubeconfig"
        file.write_text(yaml.safe_dump(content))
        return file

    @property
    def _certificate(self) -> Path:
        """The server makes it, and puts that of the authority which it made for it beside it."""
        return self.directory / "certificates" / "apiserver.crt"

    @property
    def _key(self) -> Path:
        return self.directory / "accounts.key"
