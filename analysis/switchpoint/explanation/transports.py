"""Names the transports that UCX and libfabric used, or were set to use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

#: Words of UCX_TLS that stand for several transports (ucp_context.c, "aliases").
_UCX_ALIASES = {
    "mm": {"posix", "sysv", "xpmem"},
    "sm": {"posix", "sysv", "xpmem", "cma", "knem"},
    "shm": {"posix", "sysv", "xpmem", "cma", "knem"},
    "ib": {"rc_verbs", "rc_mlx5", "dc_mlx5", "ud_verbs", "ud_mlx5"},
    "rc": {"rc_verbs", "rc_mlx5"},
    "rc_v": {"rc_verbs"},
    "rc_x": {"rc_mlx5"},
    "dc": {"dc_mlx5"},
    "dc_x": {"dc_mlx5"},
    "ud": {"ud_verbs", "ud_mlx5"},
    "ud_v": {"ud_verbs"},
    "ud_x": {"ud_mlx5"},
}

#: Providers that libfabric combines with others by itself: RxM makes datagrams from connections,
#: and EFA uses `shm` within a node. New versions of `tcp` work without RxM.
_WITH = {
    "tcp": {"ofi_rxm"},
    "verbs": {"ofi_rxm"},
    "efa": {"shm"},
    "lnx": {"shm", "cxi"},
}

#: Providers of Slingshot 11 and 10, between which Cray MPICH chooses (its release notes).
_OF_CRAY = frozenset({"cxi", "verbs", "ofi_rxm"})

#: What names libfabric's provider, the most specific first.
_PROVIDER_SETTINGS = (
    "MPICH_OFI_USE_PROVIDER", "I_MPI_OFI_PROVIDER", "MPIR_CVAR_OFI_USE_PROVIDER",
    "mtl_ofi_provider_include", "FI_PROVIDER",
)  # fmt: skip

#: Transports whose bytes the counters of an interface show, since the kernel carries them.
THROUGH_KERNEL = frozenset({"tcp", "ofi_rxm", "sockets", "udp"})


def ucx_transports(
    footer: Mapping[str, Any] | None, settings: Mapping[str, str]
) -> frozenset[str] | None:
    """Return UCX's transports: those of all endpoints, else those that UCX_TLS allows.

    Parameters
    ----------
    footer
        Of a run record; its endpoints have lanes such as `rc_mlx5/mlx5_0:1`.
    settings
        UCX's settings, by name.

    Returns
    -------
    frozenset of str or None
        Such as `rc_mlx5`; None if neither names them.
    """
    lanes = [
        lane
        for rank in _dicts(footer.get("ranks") if footer else None)
        for endpoint in _dicts(rank.get("ucx_endpoints"))
        for lane in endpoint.get("lanes") or []
        if isinstance(lane, str)
    ]
    if lanes:
        return frozenset(lane.partition("/")[0] for lane in lanes)
    words = _words(settings.get("UCX_TLS"))
    if not words or "all" in words:
        return None
    return frozenset().union(*(_UCX_ALIASES.get(word, {word}) for word in words))


def libfabric_providers(settings: Mapping[str, str], family: str) -> frozenset[str] | None:
    """Return the providers that libfabric may have used; None if nothing names them.

    >>> sorted(libfabric_providers({"FI_PROVIDER": "verbs;ofi_rxm"}, "MPICH"))
    ['ofi_rxm', 'verbs']
    """
    for name in _PROVIDER_SETTINGS:
        if words := _words(settings.get(name)):
            return frozenset(words).union(*(_WITH.get(word, ()) for word in words))
    return _OF_CRAY if family == "CRAY MPICH" else None


def _words(text: object) -> list[str]:
    """Return the names in a list; none if it only says what is left out."""
    listed = str(text or "").lower().replace(";", ",").split(",")
    words = [word.strip().lstrip("\\").partition(":")[0] for word in listed if word.strip()]
    return [] if any(word.startswith("^") for word in words) else words


def _dicts(items: object) -> Iterable[Mapping[str, Any]]:
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
