"""What `neardup serve` was asked for."""

from __future__ import annotations

import ipaddress
import os
import socket
from dataclasses import dataclass, field
from pathlib import Path

from neardup.errors import SettingError
from neardup.service.limits import Limits

MOST_WORKERS = 64


@dataclass(frozen=True)
class ServeSettings:
    """Where the data are, where to listen, and within which limits."""

    data: Path
    host: str = "127.0.0.1"
    port: int = 7700
    workers: int | None = None
    keys: Path | None = None
    log_requests: bool = True
    log_texts: bool = False
    limits: Limits = field(default_factory=Limits)

    @property
    def processes(self) -> int:
        """How many workers; by default one for each core, up to four."""
        return min(4, os.cpu_count() or 1) if self.workers is None else self.workers

    def address(self) -> tuple[socket.AddressFamily, str]:
        """The address to listen on; a host that others can reach needs keys."""
        if self.workers is not None and not 1 <= self.workers <= MOST_WORKERS:
            raise SettingError(f"--workers {self.workers} must be from 1 to {MOST_WORKERS}")
        if not 0 <= self.port <= 65535:
            raise SettingError(f"--port {self.port} must be from 0 to 65535; 0 chooses a free one")
        try:
            found = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise SettingError(
                f"--host {self.host!r} is not an address of this machine: {error}"
            ) from None
        family, _, _, _, place = found[0]
        address = str(place[0])
        if self.keys is None and not ipaddress.ip_address(address.partition("%")[0]).is_loopback:
            raise SettingError(
                f"--host {self.host} can be reached by other machines, so requests need keys; make "
                "one with `neardup keys create keys.toml NAME --role admin`, and add --keys "
                "keys.toml"
            )
        return socket.AddressFamily(family), address
