"""How a command talks to a running testbed: one JSON line each way over a Unix socket.

The socket answers only when the testbed is up, so a request also waits for it.
"""

from __future__ import annotations

import json
import os
import socket
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from testbed.errors import TestbedError

_SOCKET = "control.socket"
Message = dict[str, Any]


def listen(folder: Path) -> socket.socket:
    """Make the socket of a testbed; the process that inherits it answers."""
    server = socket.socket(socket.AF_UNIX)
    with _short_path(folder) as path:
        server.bind(path)
    server.listen(64)
    return server


def ask(folder: Path, request: Message, timeout_s: float = 120) -> Message:
    """Send a request and wait for its answer.

    Raises
    ------
    TestbedError
        With the testbed's message, if it refuses.
    ConnectionError
        If the testbed is down, or dies before it answers.
    """
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(timeout_s)
        try:
            with _short_path(folder) as path:
                client.connect(path)
            client.sendall(json.dumps(request).encode())
            client.shutdown(socket.SHUT_WR)
            answer = _read(client)
        except FileNotFoundError:
            raise ConnectionError("no socket") from None
        except TimeoutError:
            raise TestbedError(f"no answer within {timeout_s:.0f} s: see {folder}/logs") from None
    if not answer:
        raise ConnectionError("no answer")
    reply: Message = json.loads(answer)
    if "error" in reply:
        raise TestbedError(reply["error"])
    return reply


def answer(server: socket.socket, handle: Callable[[Message], Message]) -> None:
    """Answer one waiting request with the result of `handle`, or with its error.

    No error may end the supervisor, because all of the testbed would end with it.
    """
    connection, _ = server.accept()
    with connection:
        connection.settimeout(1)
        try:
            request = json.loads(_read(connection))
        except (OSError, ValueError):
            return  # the caller has ended
        try:
            reply = handle(request)
        except TestbedError as error:
            reply = {"error": str(error)}
        except Exception as error:
            traceback.print_exc()  # into the supervisor's log
            message = f"{type(error).__name__}: {error}; see the supervisor's log"
            reply = {"error": " ".join(message.split())}
        try:
            connection.sendall(json.dumps(reply).encode())
        except OSError:
            return


def _read(connection: socket.socket) -> bytes:
    return b"".join(iter(lambda: connection.recv(65536), b""))


@contextmanager
def _short_path(folder: Path) -> Iterator[str]:
    # A socket's path has at most 107 bytes, and a deep folder is longer.
    descriptor = os.open(folder, os.O_PATH)
    try:
        yield f"/proc/self/fd/{descriptor}/{_SOCKET}"
    finally:
        os.close(descriptor)
