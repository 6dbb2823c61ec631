"""Recognises which layers of its communication stack carried the messages of a run.

What the run itself reports decides: the components that Open MPI selected, and UCX's endpoints. In
older records it is what was asked for, and the library's description. What neither says is
unknown: then every layer that may have carried messages counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from switchpoint.explanation.transports import libfabric_providers, ucx_transports
from switchpoint.tables.mpi_names import mpi_family, mpi_name

if TYPE_CHECKING:
    from switchpoint.records.footer import Footer

#: Transports of a layer; None if they are not known.
Transports = frozenset[str] | None

#: Cray MPICH is for Aries networks (uGNI) on this base, and for libfabric or UCX on later ones.
_BASE_OF_ARIES = "3.2"

#: The first version of Intel MPI that sends over libfabric.
_INTEL_ON_LIBFABRIC = 2019


@dataclass(frozen=True)
class Stack:
    """The communication stack of one run.

    Attributes
    ----------
    library : str
        Short name of the MPI library, such as `Open MPI 4.1.4`.
    family, version : str
        Its two parts; the version may be empty.
    base : str or None
        The version of MPICH on which Cray MPICH is based, such as `3.4a2`.
    device : str or None
        Of MPICH and its relatives, such as `ch4:ofi` or `ch3:mrail`; None if it is not known.
    pml, mtl : str or None
        Open MPI's components that send messages, such as `ob1`, or `cm` with `ofi`; None if it is
        not known which of several, or of another library.
    transports : dict of str to frozenset of str or None
        Each layer that carried messages, or may have, with its transports. They are: of `ob1` its
        BTLs, of `ucx` its transports, of `ofi` libfabric's providers, of `ch4` its ways through
        shared memory, of `mvapich2` its channel, of `glibc` its copy if that may use `rep movsb`.
    """

    library: str
    family: str
    version: str
    base: str | None
    device: str | None
    pml: str | None
    mtl: str | None
    transports: dict[str, Transports]


def stack_of(mpi: Mapping[str, Any], footer: Footer | None = None) -> Stack:
    """Derive the stack from a run record.

    Parameters
    ----------
    mpi
        `mpi` of the record's header.
    footer
        The record's footer, if there is one.
    """
    return _Recognition(mpi, footer).stack()


def network_module(mpi: Mapping[str, Any]) -> str | None:
    """Return the network module of MPICH's ch4: the requested one, or the first that it has.

    Old records have no description. Their MPICH is that of Debian 12, which only has UCX.
    """
    if not mpi.get("description") and mpi_family(mpi_name(mpi.get("library", ""))) == "MPICH":
        return "ucx"
    asked = {
        name: value
        for source in (mpi.get("environment", {}), mpi.get("cvars", {}))
        for name, value in source.items()
        if value  # MPI_T shows it as empty even if it is set
    }
    for name in ("MPIR_CVAR_CH4_NETMOD", "MVP_CH4_NETMOD", "MPICH_CH4_NETMOD"):
        if name in asked:
            return str(asked[name])
    built = re.match(r"ch4:(\w+)", _device(mpi) or "")
    return built[1] if built else None


def listed_settings(mpi: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the settings that `UCX`, `libfabric` and `glibc` reported in the run, each by name.

    What is not set may be null or an empty text there.
    """
    reported = _mapping(mpi.get("stack"))
    return {
        source: _mapping(_mapping(reported.get(part)).get("settings"))
        for part, source in (("ucx", "UCX"), ("libfabric", "libfabric"), ("glibc", "glibc"))
    }


class _Recognition:
    """What a record says of its stack, and what follows."""

    def __init__(self, mpi: Mapping[str, Any], footer: Footer | None) -> None:
        self.mpi, self.footer = mpi, footer
        self.library = mpi_name(mpi.get("library", ""))
        self.family = mpi_family(self.library)
        self.text = f"{mpi.get('library', '')}\n{mpi.get('description', '')}"
        self.cvars: Mapping[str, Any] = mpi.get("cvars", {})
        self.environment: Mapping[str, Any] = mpi.get("environment", {})
        self.reported = _mapping(mpi.get("stack"))
        self.settings = {
            name: str(value)
            for source in (self.cvars, self.environment, *listed_settings(mpi).values())
            for name, value in source.items()
            if value not in (None, "")
        }
        self.pmls: set[str] = set()
        self.mtls: set[str] = set()
        self.device: str | None = None

    def stack(self) -> Stack:
        """Return what was recognised."""
        transports = self._transports() | self._glibc()
        base = re.search(r"ANL base (\S+?)\)", self.text)
        return Stack(
            library=self.library,
            family=self.family,
            version=self.library.removeprefix(self.family).strip(),
            base=base[1] if base else None,
            device=self.device,
            pml=_only(self.pmls),
            mtl=_only(self.mtls) if self.pmls == {"cm"} else None,
            transports=transports,
        )

    def _transports(self) -> dict[str, Transports]:
        if self.family in {"Open MPI", "Spectrum MPI"}:
            return self._of_open_mpi()
        if self.family == "Intel MPI":
            return self._of_intel_mpi()
        if self.family == "CRAY MPICH":
            return self._of_cray_mpich()
        self.device = _device(self.mpi)
        if self.family == "ParaStation MPI" or self.device == "psp":
            return {"pscom": None} | self._ucx()
        if self.family == "MPICH" or self.family.startswith("MVAPICH"):
            return self._of_mpich()
        return {}

    def _glibc(self) -> dict[str, Transports]:
        """Return the C library where it may copy with `rep movsb`, whatever the MPI library."""
        flags = _mapping(self.reported.get("glibc")).get("cpu_flags")
        used = isinstance(flags, list) and "erms" in flags
        return {"glibc": frozenset({"memcpy"})} if used else {}

    def _ucx(self) -> dict[str, Transports]:
        return {"ucx": ucx_transports(self.footer, self.settings)}

    def _libfabric(self) -> dict[str, Transports]:
        """Return libfabric with its providers. Its provider psm2 uses the library of this name."""
        providers = libfabric_providers(self.settings, self.family)
        below = {"psm2": None} if providers is None or "psm2" in providers else {}
        return {"ofi": providers} | below

    # Open MPI

    def _of_open_mpi(self) -> dict[str, Transports]:
        self.pmls = self._selected("pml") or self._possible_pmls()
        layers: dict[str, Transports] = {}
        if "ob1" in self.pmls:
            layers["ob1"] = self._btls()
        if "ucx" in self.pmls:
            layers |= self._ucx()
        if "cm" in self.pmls:
            self.mtls = self._selected("mtl") or self._asked("mtl") or {"ofi", "psm2"}
            layers |= self._libfabric() if "ofi" in self.mtls else {}
            layers |= {"psm2": None} if "psm2" in self.mtls else {}
        return layers

    def _selected(self, framework: str) -> set[str]:
        """Return the components that the run reported."""
        names = _mapping(self.reported.get("selected")).get(framework)
        return {str(name) for name in names} if isinstance(names, list) else set()

    def _asked(self, framework: str) -> set[str]:
        """Return the components that a setting names, if it does not name those to leave out."""
        words = self._words(framework)
        return set() if words.startswith("^") else {*filter(None, words.split(","))}

    def _words(self, framework: str) -> str:
        return str(self.cvars.get(framework) or self.environment.get(f"OMPI_MCA_{framework}") or "")

    def _possible_pmls(self) -> set[str]:
        """Return the PMLs that may have been selected.

        `cm` counts where an MTL was asked for: without one of its fabrics Open MPI does not use it.
        """
        if asked := self._asked("pml"):
            return asked
        without = self._words("pml").removeprefix("^").split(",")
        possible = {"ob1"} | ({"ucx"} if self._may_use_ucx() else set())
        return (possible | ({"cm"} if self._asked("mtl") else set())) - {*without}

    def _may_use_ucx(self) -> bool:
        """Return whether UCX is in the process, or may be: old records only show its variables."""
        if "ucx" in self.reported:
            return self.reported["ucx"] is not None
        return not self.cvars or any("ucx" in name for name in self.cvars)

    def _btls(self) -> Transports:
        """Return the BTLs in use. MPI_T shows the variables of those that were opened."""
        names = self._selected("btl") or self._asked("btl")
        if not names:
            opened = (re.match(r"btl_([a-z0-9]+)_", name) for name in self.cvars)
            names = {match[1] for match in opened if match} - {"base"}
        if "vader" in names and not re.match(r"Open MPI [1-4]\.", self.library):
            names = names - {"vader"} | {"sm"}  # its name from Open MPI 5 on
        return frozenset(names) or None

    # MPICH and its relatives

    def _of_mpich(self) -> dict[str, Transports]:
        self.device = self.device or ("ch4:ucx" if network_module(self.mpi) == "ucx" else None)
        kind, _, channel = (self.device or "").partition(":")
        if kind == "ch3":
            return self._of_ch3(channel)
        module = network_module(self.mpi)
        if self.device is not None and module is not None:
            self.device = f"ch4:{module}"
        shared = {} if self._without_shared_memory() else {"ch4": self._ways_of_ch4()}
        return shared | self._of_module(module)

    def _without_shared_memory(self) -> bool:
        """Return whether messages within a node were sent as if it were several."""
        return self.settings.get("MPIR_CVAR_NOLOCAL", "").lower() in {"1", "true", "yes", "on"}

    def _of_module(self, module: str | None) -> dict[str, Transports]:
        """Return the layers of a network module of ch4; of both if it is not known."""
        layers: dict[str, Transports] = {}
        if module in {None, "ofi"}:
            layers |= {"ch4:ofi": None} | self._libfabric()
        if module in {None, "ucx"}:
            layers |= self._ucx()
        return layers

    def _of_ch3(self, channel: str) -> dict[str, Transports]:
        if self.family.startswith("MVAPICH"):
            layers: dict[str, Transports] = {"mvapich2": frozenset({channel.partition(":")[0]})}
            if channel.startswith("psm"):
                layers["psm2"] = None
            return layers | ({} if channel.startswith(("mrail", "psm")) else {"ch3": None})
        has_shared = channel.startswith("nemesis") and not self._without_shared_memory()
        shared: dict[str, Transports] = {"nemesis": None} if has_shared else {}
        below = self._libfabric() if channel.endswith(":ofi") else {}
        return {"ch3": None} | shared | below

    def _ways_of_ch4(self) -> Transports:
        """Return ch4's ways through shared memory, if the description says how it was built."""
        if "configure" not in self.text:
            return None
        return frozenset({"posix", "cma"} | ({"xpmem"} if "xpmem" in self.text else set()))

    def _of_cray_mpich(self) -> dict[str, Transports]:
        if f"ANL base {_BASE_OF_ARIES}" in self.text:
            self.device = "ch3:nemesis:gni"
            return {"cray": None, "gni": None}
        # Its text does not name the module. cray-mpich-ucx is a library of its own.
        ucx = "ch4:ucx" in self.text or any(name.startswith("MPICH_UCX_") for name in self.settings)
        if "ucx" in self.reported:
            libfabric = self.reported.get("libfabric") is not None
            ucx = self.reported["ucx"] is not None and not libfabric
        module = "ucx" if ucx else "ofi"
        self.device = f"ch4:{module}"
        return {"cray": None, "ch4": frozenset({"posix", "xpmem", "cma"})} | self._of_module(module)

    def _of_intel_mpi(self) -> dict[str, Transports]:
        year = re.match(r"\d+", self.library.removeprefix("Intel MPI").strip())
        if year and int(year[0]) < _INTEL_ON_LIBFABRIC:
            return {"intel": None}
        self.device = "ch4:ofi"
        fabrics = self.settings.get("I_MPI_FABRICS", "shm:ofi").split(":")
        layers: dict[str, Transports] = {"intel": None} if "shm" in fabrics else {}
        return layers | (self._of_module("ofi") if "ofi" in fabrics else {})


def _device(mpi: Mapping[str, Any]) -> str | None:
    """Return the device in MPICH's description, such as `ch4:ofi ucx`."""
    text = f"{mpi.get('library', '')}\n{mpi.get('description', '')}"
    match = re.search(r"Device[ \t]*:[ \t]*(\S[^\n]*)", text) or re.search(r"\b(ch[34]:\w+)", text)
    return match[1].strip() if match else None


def _only(names: set[str]) -> str | None:
    return next(iter(names)) if len(names) == 1 else None


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
