"""Clients of `neardup serve`: an index on a server, with the methods of an index on disk."""

from neardup.client.awaiting import AsyncClient, AsyncRemoteIndex
from neardup.client.blocking import Client, RemoteIndex
from neardup.client.errors import ServiceError

__all__ = ["AsyncClient", "AsyncRemoteIndex", "Client", "RemoteIndex", "ServiceError"]
