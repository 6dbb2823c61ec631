"""The layers that carried messages, recognised from what the libraries of real systems report."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import RECORDS, write_record
from switchpoint import read
from switchpoint.explanation.applicable import segments_of, settings_of, value_of
from switchpoint.explanation.catalogue import Setting
from switchpoint.explanation.in_use import settings_in_use
from switchpoint.explanation.stack import network_module, stack_of
from switchpoint.explanation.suspects import eager_suspects, suspects_of_run

OPEN_MPI_4 = "Open MPI v4.1.5rc2, package: Open MPI root@host Distribution, ident: 4.1.5rc2"
OPEN_MPI_5 = "Open MPI v5.0.5, package: Open MPI build@node Distribution, ident: 5.0.5"
CRAY_8 = """MPI VERSION    : CRAY MPICH version 8.1.25.17 (ANL base 3.4a2)
MPI BUILD INFO : Sun Feb 26 15:15 2023 (git hash aecd99f)"""
CRAY_7 = """MPI VERSION    : CRAY MPICH version 7.7.15 (ANL base 3.2)
MPI BUILD INFO : Built Mon Jun 22 10:12:41 2020 (git hash 0e3bf8b) MT-G"""
MVAPICH2 = """MVAPICH2 Version      :\t2.3.7
MVAPICH2 Release date :\tWed March 02 22:00:00 EST 2022
MVAPICH2 Device       :\tch3:mrail
MVAPICH2 configure    :\t--with-device=ch3:mrail --with-rdma=gen2"""
MVAPICH4 = """MVAPICH Version:      4.0
MVAPICH Release date: Fri Feb 21 2025
MVAPICH ABI:          16:0:4
MVAPICH Device:       ch4:ucx
MVAPICH configure:    --with-device=ch4:ucx"""
MPICH_4 = """MPICH Version:      4.2.3
MPICH ABI:          16:3:4
MPICH Device:       ch4:ofi ucx
MPICH configure:    --with-device=ch4:ofi,ucx"""
MPICH_CH3 = """MPICH Version:\t4.0.2
MPICH Device:\tch3:nemesis
MPICH configure:\t--with-device=ch3:nemesis --disable-fortran"""
INTEL_2021 = "Intel(R) MPI Library 2021.10 for Linux* OS\n"
INTEL_2018 = "Intel(R) MPI Library 2018 Update 3 for Linux* OS\n"

#: What the header's `stack` says of Open MPI's components.
UCX_SELECTED = {"selected": {"pml": ["ucx"], "btl": [], "mtl": []}}
OB1_SELECTED = {"selected": {"pml": ["ob1"], "btl": ["self", "sm", "tcp"], "mtl": []}}
OFI_SELECTED = {"selected": {"pml": ["cm"], "btl": [], "mtl": ["ofi"]}}
PSM2_SELECTED = {"selected": {"pml": ["cm"], "btl": [], "mtl": ["psm2"]}}

#: Cvars of an Open MPI that can use UCX, and of one that cannot.
WITH_UCX = {"pml": "", "pml_ucx_priority": 51, "btl_tcp_eager_limit": 65536, "btl_self_rdma": 0}
WITHOUT_UCX = {"pml": "", "btl_tcp_eager_limit": 65536, "btl_vader_eager_limit": 4096}

#: Description; rest of the header's `mpi`; library; layers with their transports (* if unknown);
#: path; settings that are considered there, and some that are not.
SYSTEMS = [
    pytest.param(
        OPEN_MPI_5, {"stack": UCX_SELECTED, "cvars": {"pml": ""}}, "Open MPI 5.0.5", "ucx:*",
        "network", "UCX_RNDV_THRESH UCX_RNDV_SEND_NBR_THRESH UCX_RC_MLX5_TX_MIN_INLINE",
        "UCX_TCP_TX_SEG_SIZE btl_tcp_eager_limit FI_OFI_RXM_SAR_LIMIT",
        id="Open MPI 5, PML UCX chosen by itself",
    ),
    pytest.param(
        OPEN_MPI_5, {"stack": OB1_SELECTED, "cvars": WITH_UCX}, "Open MPI 5.0.5",
        "ob1:self,sm,tcp", "network", "btl_tcp_eager_limit",
        "UCX_RNDV_THRESH btl_openib_eager_limit", id="Open MPI 5, ob1",
    ),
    pytest.param(
        OPEN_MPI_5, {"stack": OB1_SELECTED}, "Open MPI 5.0.5", "ob1:self,sm,tcp",
        "shared_memory", "btl_sm_eager_limit btl_sm_max_inline_send", "btl_vader_eager_limit",
        id="Open MPI 5, ob1 in shared memory",
    ),
    pytest.param(
        OPEN_MPI_5, {"stack": OFI_SELECTED, "environment": {"FI_PROVIDER": "cxi"}},
        "Open MPI 5.0.5", "ofi:cxi", "network", "FI_CXI_RDZV_THRESHOLD FI_CXI_RDZV_GET_MIN",
        "FI_OFI_RXM_SAR_LIMIT UCX_RNDV_THRESH PSM2_MQ_RNDV_HFI_THRESH",
        id="Open MPI 5, cm with ofi on Slingshot 11",
    ),
    pytest.param(
        OPEN_MPI_5, {"stack": OFI_SELECTED}, "Open MPI 5.0.5", "ofi:* psm2:*", "network",
        "FI_CXI_RDZV_THRESHOLD FI_OFI_RXM_SAR_LIMIT PSM3_MQ_RNDV_NIC_THRESH"
        " FI_OPX_RZV_MIN_PAYLOAD_BYTES FI_EFA_INTER_MAX_MEDIUM_MESSAGE_SIZE",
        "UCX_RNDV_THRESH", id="Open MPI 5, cm with ofi over an unknown provider",
    ),
    pytest.param(
        OPEN_MPI_4, {"stack": PSM2_SELECTED}, "Open MPI 4.1.5rc2", "psm2:*", "network",
        "PSM2_MQ_RNDV_HFI_THRESH PSM2_MQ_EAGER_SDMA_SZ",
        "btl_tcp_eager_limit FI_OFI_RXM_SAR_LIMIT UCX_RNDV_THRESH", id="Open MPI 4, cm with psm2",
    ),
    pytest.param(
        OPEN_MPI_4, {"cvars": WITH_UCX}, "Open MPI 4.1.5rc2", "ob1:self,tcp ucx:*", "network",
        "btl_tcp_eager_limit UCX_RNDV_THRESH", "FI_OFI_RXM_SAR_LIMIT PSM2_MQ_RNDV_HFI_THRESH",
        id="Open MPI 4, old record that does not show the selected PML",
    ),
    pytest.param(
        OPEN_MPI_4, {"cvars": WITHOUT_UCX}, "Open MPI 4.1.5rc2", "ob1:tcp,vader",
        "shared_memory", "btl_vader_eager_limit", "UCX_RNDV_THRESH",
        id="Open MPI 4 without UCX, old record",
    ),
    pytest.param(
        OPEN_MPI_4, {"environment": {"OMPI_MCA_pml": "^ucx"}}, "Open MPI 4.1.5rc2", "ob1:*",
        "network", "btl_tcp_eager_limit btl_openib_eager_limit", "UCX_RNDV_THRESH",
        id="Open MPI 4 that may not use UCX",
    ),
    pytest.param(
        OPEN_MPI_4, {"environment": {"OMPI_MCA_pml": "ucx", "UCX_TLS": "rc_x,self,sm"}},
        "Open MPI 4.1.5rc2", "ucx:cma,knem,posix,rc_mlx5,self,sysv,xpmem", "network",
        "UCX_RC_MLX5_TX_MIN_INLINE", "UCX_TCP_SENDV_THRESH UCX_UD_VERBS_TX_MIN_INLINE",
        id="Open MPI 4, PML UCX forced, with a list of transports",
    ),
    pytest.param(
        CRAY_8, {}, "CRAY MPICH 8.1.25.17",
        "cray:* ch4:cma,posix,xpmem ch4:ofi:* ofi:cxi,ofi_rxm,verbs", "network",
        "FI_CXI_RDZV_THRESHOLD FI_CXI_RDZV_GET_MIN FI_OFI_RXM_SAR_LIMIT"
        " MPIR_CVAR_CH4_OFI_EAGER_MAX_MSG_SIZE",
        "UCX_RNDV_THRESH PSM3_MQ_RNDV_NIC_THRESH MPICH_GNI_MAX_EAGER_MSG_SIZE", id="Cray MPICH 8",
    ),
    pytest.param(
        CRAY_8, {"environment": {"MPICH_OFI_USE_PROVIDER": "cxi"}}, "CRAY MPICH 8.1.25.17",
        "cray:* ch4:cma,posix,xpmem ch4:ofi:* ofi:cxi", "shared_memory",
        "MPICH_SMP_SINGLE_COPY_SIZE", "FI_CXI_RDZV_THRESHOLD", id="Cray MPICH 8 within a node",
    ),
    pytest.param(
        CRAY_8, {"stack": {"ucx": {"version": "1.12", "settings": {}, "sizes": []},
                           "libfabric": None}},
        "CRAY MPICH 8.1.25.17", "cray:* ch4:cma,posix,xpmem ucx:*", "network",
        "UCX_RNDV_THRESH UCX_RC_MLX5_SEG_SIZE", "FI_CXI_RDZV_THRESHOLD",
        id="Cray MPICH 8 linked with UCX",
    ),
    pytest.param(
        CRAY_7, {}, "CRAY MPICH 7.7.15", "cray:* gni:*", "network", "MPICH_GNI_MAX_EAGER_MSG_SIZE",
        "FI_CXI_RDZV_THRESHOLD", id="Cray MPICH 7 on Aries",
    ),
    pytest.param(
        MVAPICH2, {}, "MVAPICH2 2.3.7", "mvapich2:mrail", "network",
        "MV2_IBA_EAGER_THRESHOLD MV2_VBUF_TOTAL_SIZE",
        "MV2_SMP_EAGERSIZE MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE UCX_RNDV_THRESH", id="MVAPICH2, mrail",
    ),
    pytest.param(
        MVAPICH2.replace("mrail", "psm"), {}, "MVAPICH2 2.3.7", "mvapich2:psm psm2:*", "network",
        "PSM2_MQ_RNDV_HFI_THRESH", "MV2_IBA_EAGER_THRESHOLD", id="MVAPICH2, psm",
    ),
    pytest.param(
        MVAPICH4, {}, "MVAPICH 4.0", "ch4:cma,posix ucx:*", "network", "UCX_RNDV_THRESH",
        "MV2_IBA_EAGER_THRESHOLD FI_OFI_RXM_SAR_LIMIT", id="MVAPICH 4, ch4:ucx",
    ),
    pytest.param(
        MVAPICH4.replace("ch4:ucx", "ch4:ofi"), {"environment": {"FI_PROVIDER": "opx"}},
        "MVAPICH 4.0", "ch4:cma,posix ch4:ofi:* ofi:opx", "network",
        "FI_OPX_RZV_MIN_PAYLOAD_BYTES MPIR_CVAR_CH4_OFI_EAGER_MAX_MSG_SIZE", "UCX_RNDV_THRESH",
        id="MVAPICH 4, ch4:ofi",
    ),
    pytest.param(
        MPICH_4, {"environment": {"FI_PROVIDER": "verbs;ofi_rxm"}}, "MPICH 4.2.3",
        "ch4:cma,posix ch4:ofi:* ofi:ofi_rxm,verbs", "network",
        "FI_OFI_RXM_SAR_LIMIT FI_VERBS_INLINE_SIZE", "FI_TCP_MAX_INJECT", id="MPICH 4, ofi",
    ),
    pytest.param(
        MPICH_4, {"environment": {"MPIR_CVAR_CH4_NETMOD": "ucx", "UCX_TLS": "tcp,self"}},
        "MPICH 4.2.3", "ch4:cma,posix ucx:self,tcp", "network", "UCX_TCP_TX_SEG_SIZE",
        "UCX_SYSV_SEG_SIZE FI_OFI_RXM_SAR_LIMIT", id="MPICH 4, ucx asked for",
    ),
    pytest.param(
        MPICH_CH3, {}, "MPICH 4.0.2", "ch3:* nemesis:*", "shared_memory",
        "MPIR_CVAR_NEMESIS_SHM_EAGER_MAX_SZ",
        "UCX_SYSV_SEG_SIZE MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE", id="MPICH, ch3:nemesis",
    ),
    pytest.param(
        INTEL_2021, {"environment": {"I_MPI_OFI_PROVIDER": "psm3"}}, "Intel MPI 2021.10",
        "intel:* ch4:ofi:* ofi:psm3", "network", "PSM3_MQ_RNDV_NIC_THRESH",
        "I_MPI_EAGER_THRESHOLD UCX_RNDV_THRESH FI_CXI_RDZV_THRESHOLD", id="Intel MPI 2021",
    ),
    pytest.param(
        INTEL_2021, {}, "Intel MPI 2021.10", "intel:* ch4:ofi:* ofi:* psm2:*", "shared_memory",
        "I_MPI_SHM_CELL_FWD_SIZE I_MPI_SHM_CELL_BWD_SIZE", "I_MPI_INTRANODE_EAGER_THRESHOLD",
        id="Intel MPI 2021 within a node",
    ),
    pytest.param(
        INTEL_2018, {}, "Intel MPI 2018.3", "intel:*", "network", "I_MPI_EAGER_THRESHOLD",
        "I_MPI_SHM_CELL_FWD_SIZE FI_OFI_RXM_SAR_LIMIT", id="Intel MPI 2018",
    ),
    pytest.param(
        "ParaStation MPI 5.9.2-1", {}, "ParaStation MPI 5.9.2", "pscom:* ucx:*", "network",
        "PSP_UCP_RENDEZVOUS PSP_RENDEZVOUS_UCP UCX_RNDV_THRESH", "PSP_SHM_RENDEZVOUS",
        id="ParaStation MPI",
    ),
    pytest.param(
        "HPE MPT 2.23  08/26/20 02:54:49-root", {}, "HPE MPT 2.23", "", "network", "",
        "UCX_RNDV_THRESH btl_tcp_eager_limit", id="HPE MPT, of which no setting is known",
    ),
]  # fmt: skip


def described(description: str, **more: Any) -> dict[str, Any]:
    """`mpi` of a header, whose library is the first line of its description."""
    first = {"library": description.splitlines()[0], "description": description}
    return {"cvars": {}, "environment": {}} | first | more


def written(transports: dict[str, frozenset[str] | None]) -> dict[str, str]:
    """Layers with their transports as in the table."""
    return {
        layer: "*" if names is None else ",".join(sorted(names))
        for layer, names in transports.items()
    }


@pytest.mark.parametrize(
    ("description", "more", "library", "layers", "path", "considered", "not_considered"), SYSTEMS
)
def test_the_layers_of_real_systems_and_their_settings(
    description: str,
    more: dict[str, Any],
    library: str,
    layers: str,
    path: str,
    considered: str,
    not_considered: str,
) -> None:
    mpi = described(description, **more)
    stack = stack_of(mpi)

    assert stack.library == library
    expected = dict(text.rsplit(":", 1) for text in layers.split())
    assert written(stack.transports) == expected
    names = {entry.variable for entry in settings_of(mpi, path)}
    assert names >= {*considered.split()}
    assert not names & {*not_considered.split()}


@pytest.mark.parametrize(
    ("mpi", "device", "pml", "mtl", "base"),
    [
        (described(CRAY_8), "ch4:ofi", None, None, "3.4a2"),
        (described(CRAY_7), "ch3:nemesis:gni", None, None, "3.2"),
        (described(MVAPICH2), "ch3:mrail", None, None, None),
        (described(MPICH_4), "ch4:ofi", None, None, None),
        (described(INTEL_2021), "ch4:ofi", None, None, None),
        (described(OPEN_MPI_5, stack=UCX_SELECTED), None, "ucx", None, None),
        (described(OPEN_MPI_5, stack=OFI_SELECTED), None, "cm", "ofi", None),
        (described(OPEN_MPI_4, cvars=WITH_UCX), None, None, None, None),
        (described(OPEN_MPI_4, cvars=WITHOUT_UCX), None, "ob1", None, None),
    ],
)
def test_the_components_of_a_stack(
    mpi: dict[str, Any], device: str | None, pml: str | None, mtl: str | None, base: str | None
) -> None:
    stack = stack_of(mpi)
    assert (stack.device, stack.pml, stack.mtl, stack.base) == (device, pml, mtl, base)


def footer_with(*lanes: str) -> dict[str, Any]:
    """A footer whose first rank reports the lanes of one endpoint."""
    endpoint = {"lanes": [*lanes], "tag_send": []}
    return {"ranks": [{"rank": 0, "ucx_endpoints": [endpoint]}, {"rank": 1}]}


@pytest.mark.parametrize(
    ("lanes", "path", "named", "not_named"),
    [
        (["sysv/memory", "cma/memory"], "shared_memory", "UCX_SYSV_SEG_SIZE", "UCX_POSIX_SEG_SIZE"),
        (["tcp/lo"], "network", "UCX_TCP_TX_SEG_SIZE", "UCX_RC_MLX5_SEG_SIZE"),
        (["rc_mlx5/mlx5_0:1"], "network", "UCX_RC_MLX5_SEG_SIZE", "UCX_TCP_TX_SEG_SIZE"),
        (["rc_mlx5/mlx5_0:1"], "network", "UCX_IB_SEG_SIZE", "UCX_DC_MLX5_SEG_SIZE"),
    ],
)
def test_ucx_lanes_decide_which_transports_settings_count(
    lanes: list[str], path: str, named: str, not_named: str
) -> None:
    # What was asked for allows more than what was used.
    mpi = described(MVAPICH4, environment={"UCX_TLS": "all"})
    names = {entry.variable for entry in settings_of(mpi, path, footer_with(*lanes))}
    assert named in names
    assert not_named not in names
    assert {named, not_named} <= {entry.variable for entry in settings_of(mpi, path)}


@pytest.mark.parametrize(("nolocal", "counts"), [("0", False), ("1", True)])
def test_within_a_node_libfabric_counts_only_without_a_shared_memory_of_mpich(
    nolocal: str, counts: bool
) -> None:
    environment = {"FI_PROVIDER": "shm", "MPIR_CVAR_NOLOCAL": nolocal}
    mpi = described(MPICH_4, environment=environment)
    names = {entry.variable for entry in settings_of(mpi, "shared_memory")}
    assert ("FI_XPMEM_MEMCPY_CHUNKSIZE" in names) == counts
    assert ("MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE" in names) != counts


def test_a_control_variable_that_the_library_does_not_show_is_not_there() -> None:
    cell = "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE"
    names = {
        entry.variable
        for entry in settings_of(described(MPICH_4, cvars={cell: 16384}), "shared_memory")
    }
    assert names == {cell}


def test_what_an_interface_counted_went_through_the_kernel() -> None:
    mpi = described(MVAPICH4)
    counted = {entry.variable for entry in settings_of(mpi, "network", counted=True)}
    assert "UCX_TCP_TX_SEG_SIZE" in counted
    assert "UCX_RC_MLX5_SEG_SIZE" not in counted


def setting(name: str, mpi: dict[str, Any], path: str = "unknown") -> Setting:
    """The entry of a setting that counts for a run."""
    (entry,) = [entry for entry in settings_of(mpi, path) if entry.variable == name]
    return entry


def test_a_value_that_ucx_lists_in_the_run_is_taken_before_any_default() -> None:
    listed = {"UCX_SYSV_SEG_SIZE": "16448", "UCX_RNDV_THRESH": "intra:auto,inter:64K"}
    ucx = {"version": "1.15.0", "settings": listed, "sizes": [*listed]}
    mpi = described(MVAPICH4, stack={"ucx": ucx, "libfabric": None})

    assert value_of(setting("UCX_SYSV_SEG_SIZE", mpi), mpi) == ("UCX", "16448")
    threshold = setting("UCX_RNDV_THRESH", mpi)
    assert value_of(threshold, mpi, "network") == ("UCX", "64K")
    assert value_of(threshold, mpi, "shared_memory") == ("UCX", "auto")
    old = described(MVAPICH4)
    assert value_of(setting("UCX_SYSV_SEG_SIZE", old), old) == ("default", 8256)


def test_what_libfabric_does_not_list_keeps_its_default() -> None:
    libfabric = {
        "version": "1.22",
        "settings": {"FI_OFI_RXM_SAR_LIMIT": None, "FI_OFI_RXM_BUFFER_SIZE": "32768"},
        "sizes": ["FI_OFI_RXM_SAR_LIMIT"],
    }
    environment = {"FI_PROVIDER": "tcp;ofi_rxm"}
    mpi = described(MPICH_4, stack={"ucx": None, "libfabric": libfabric}, environment=environment)
    assert value_of(setting("FI_OFI_RXM_SAR_LIMIT", mpi), mpi) == ("default", 131072)
    assert value_of(setting("FI_OFI_RXM_BUFFER_SIZE", mpi), mpi) == ("libfabric", "32768")


def probed_record(tmp_path: Any, mpi: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Header and footer of a record of this MPI library; its path is the network."""
    measurements = read(write_record(tmp_path / "one.record", mpi=mpi))
    (run,) = measurements.runs["run_id"]
    header, footer = measurements.facts(run)
    assert footer is not None
    return header, footer


def test_a_segment_size_with_a_unit_predicts_the_end_of_eager(tmp_path: Any) -> None:
    listed = {"UCX_TCP_TX_SEG_SIZE": "12k", "UCX_RNDV_THRESH": "auto", "UCX_TLS": "tcp,self"}
    ucx = {"version": "1.13.1", "settings": listed, "sizes": ["UCX_TCP_TX_SEG_SIZE"]}
    header, footer = probed_record(tmp_path, described(MVAPICH4, stack={"ucx": ucx}))

    first, *_ = eager_suspects(header, footer, 12287)
    assert (first["name"], first["set_by"]) == ("UCX_TCP_TX_SEG_SIZE", "UCX")
    assert first["reason"] == (
        "UCX_TCP_TX_SEG_SIZE = 12k (the first rendezvous byte): last eager byte 12287, first"
        " rendezvous byte 12288"
    )


def test_a_setting_known_from_documentation_alone_says_so(tmp_path: Any) -> None:
    environment = {"PSP_UCP_RENDEZVOUS": "32768"}
    mpi = described("ParaStation MPI 5.9.2-1", environment=environment)
    first, *_ = eager_suspects(*probed_record(tmp_path, mpi), 32767)
    assert first["name"] == "PSP_UCP_RENDEZVOUS"
    assert first["reason"].endswith("; not seen here")


MOVSB = "glibc.cpu.x86_rep_movsb_threshold"


def copying_record(record: str, **glibc: Any) -> tuple[Any, Any]:
    """Header and footer of a recorded run with what its record would say of glibc."""
    measurements = read(RECORDS / f"{record}.record.gz")
    (run,) = measurements.runs["run_id"]
    header, footer = measurements.facts(run)
    known = {
        "version": "2.36",
        "settings": {MOVSB: "2112"},
        "sizes": [MOVSB],
        "cpu_flags": ["erms"],
    }
    header["mpi"]["stack"] = {"glibc": known | glibc}
    return header, footer


def test_where_glibc_copies_otherwise_is_a_suspect_beside_the_limits_of_mpi() -> None:
    suspects = suspects_of_run(*copying_record("openmpi-memory-limit-4096"))

    assert [one["name"] for one in suspects(2048, 4096)] == ["btl_vader_eager_limit", MOVSB]
    # To the byte the step is at the threshold or up to 127 B above it.
    assert [bool(suspects(last, last + 1)) for last in (2111, 2112, 2239, 2240)] == [
        False, True, True, False,
    ]  # fmt: skip


def test_glibc_is_no_suspect_where_it_cannot_have_copied_otherwise() -> None:
    for facts in (
        copying_record("openmpi-memory-limit-4096", cpu_flags=[]),  # no fast `rep movsb`
        copying_record("openmpi-memory-limit-4096", settings={}),  # an old glibc
        copying_record("openmpi-network-limit-65536"),
    ):
        assert not suspects_of_run(*facts)(2100, 2200)


def test_a_tunable_of_glibc_is_a_setting_by_itself() -> None:
    header, _ = copying_record("openmpi-memory-limit-4096", settings={MOVSB: "3000"})
    other = "glibc.malloc.mmap_threshold"
    header["mpi"]["environment"]["GLIBC_TUNABLES"] = f"{MOVSB}=3000:{other}=64"

    known = settings_in_use(header)

    assert (known[MOVSB].number, known[MOVSB].source) == (3000, "glibc")
    assert known[MOVSB].environment == f"GLIBC_TUNABLES={MOVSB}"
    assert (known[other].value, known[other].source) == ("64", "environment")
    assert "GLIBC_TUNABLES" not in known


def test_a_name_that_is_no_setting_of_the_stack_is_not_listed() -> None:
    hostile = {"evil; x": "4100"}
    header, footer = copying_record("openmpi-memory-limit-4096", settings=hostile, sizes=[*hostile])

    assert not {*hostile} & {*settings_in_use(header)}
    assert eager_suspects(header, footer, 4040)


def test_tcp_segments_count_where_tcp_may_have_carried_messages() -> None:
    sent = [entry.message_header for entry in segments_of(described(MVAPICH4), "network")]
    assert sent == [13]
    assert not list(segments_of(described(MVAPICH4), "network", footer_with("rc_mlx5/mlx5_0:1")))


def test_a_stack_that_is_not_as_documented_is_unknown() -> None:
    for stack in ("ucx", {"ucx": "1.13", "selected": {"pml": "ucx"}}, {"selected": []}):
        assert stack_of(described(OPEN_MPI_5, stack=stack)).transports
    for ranks in (None, [None], [{"ucx_endpoints": [{"lanes": [1]}, None]}]):
        assert stack_of(described(MVAPICH4), {"ranks": ranks}).transports["ucx"] is None


def test_old_records_without_a_description_are_of_debians_mpich() -> None:
    header, _ = next(
        read(RECORDS / "mpich-memory.record.gz").facts(run)
        for run in read(RECORDS / "mpich-memory.record.gz").runs["run_id"]
    )
    mpi = header["mpi"] | {"description": ""}
    assert network_module(mpi) == "ucx"
    assert stack_of(mpi).device == "ch4:ucx"
    assert network_module(described(MVAPICH4)) == "ucx"
