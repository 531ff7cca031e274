"""Tables of Nsight Systems' SQLite exports: required columns, useful columns, and the meaning of numbers in them.

Source: exports of schemas 2.9.1 to 3.16.1 that others published, and the schema in the documentation of 2026; they
differ only in columns that nothing here needs. Nsight Systems creates tables only if it has rows for them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from octavo.measurements.activity.rows import Access, Cause, What

KNOWN_SCHEMAS = "2.9.1 (Nsight Systems 2022.2) to 3.16.1 (2024.6) and the documentation of 2026"
"""Schemas that were examined; others are read if they have the required columns."""

COPIES = "CUPTI_ACTIVITY_KIND_MEMCPY"
GPU_FAULTS = "CUDA_UM_GPU_PAGE_FAULT_EVENTS"
CPU_FAULTS = "CUDA_UM_CPU_PAGE_FAULT_EVENTS"
MEMORY = "CUDA_GPU_MEMORY_USAGE_EVENTS"
KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL"
STRINGS = "StringIds"
NVPROF_TEXTS = "StringTable"
"""The same in databases of nvprof."""
METADATA = ("EXPORT_META_DATA", "META_DATA_EXPORT")
"""Up to schema 2, and after it."""


@dataclass(frozen=True)
class Table:
    """Columns of a table; times are nanoseconds."""

    needed: tuple[str, ...]
    optional: tuple[str, ...] = ()
    """Missing in some versions, or empty in some rows; -1 stands for both."""

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns."""
        return self.needed + self.optional


TABLES = {
    COPIES: Table(
        ("start", "end", "deviceId", "bytes", "copyKind", "migrationCause", "virtualAddress"),
        ("srcDeviceId", "dstDeviceId", "globalPid"),
    ),
    GPU_FAULTS: Table(("start", "end", "deviceId", "address", "numberOfPageFaults", "faultAccessType"), ("globalPid",)),
    CPU_FAULTS: Table(("start", "address"), ("globalPid",)),
    MEMORY: Table(("start", "address", "bytes", "memKind", "memoryOperationType"), ("globalPid", "deviceId")),
    KERNELS: Table(("start", "end", "deviceId", "shortName"), ("globalPid",)),
}

MISSING = {
    GPU_FAULTS: "GPU page faults: none recorded (--cuda-um-gpu-page-faults=true records them)",
    CPU_FAULTS: "CPU page faults: none recorded (--cuda-um-cpu-page-faults=true records them)",
    MEMORY: "allocations: none recorded (--cuda-memory-usage=true records them); address ranges stand in for them",
    KERNELS: "kernels: none recorded (--trace=cuda records them)",
}
"""The meaning of a missing table."""
RECORD = (
    "record with `nsys profile --trace=cuda --cuda-um-gpu-page-faults=true --cuda-um-cpu-page-faults=true "
    "--cuda-memory-usage=true PROGRAM`, then `nsys export --type sqlite REPORT`"
)


@dataclass(frozen=True)
class Enumeration:
    """The meaning of the numbers in a column."""

    table: str
    """The table in the file that gives the meanings."""
    names: dict[str, int | str]
    """Meanings by the ending of the symbol's name in that table, longer endings first."""
    numbers: dict[int, int | str]
    """Meanings by number, for files without the table."""
    others: tuple[str, ...] = ()
    """Endings of names that are known and have no meaning here."""
    labels: dict[str, int | str] = field(default_factory=dict)
    """Meanings by the label of a number, in lower case."""

    def meaning(self, name: str, label: str) -> int | str | None:
        """The meaning of a name or a label here, if it has one."""
        found = next((self.names[end] for end in self.names if name.endswith(end)), None)
        labelled = self.labels.get(label.lower(), self.labels.get(name.lower()))
        return labelled if found is None else found

    def is_known(self, name: str) -> bool:
        """Whether a name is known to have no meaning here."""
        return name.endswith(self.others)


COPY_KINDS = Enumeration(
    "ENUM_CUDA_MEMCPY_OPER",
    {"UVM_HTOD": What.HOST_TO_DEVICE, "UVM_DTOH": What.DEVICE_TO_HOST, "UVM_DTOD": What.DEVICE_TO_DEVICE},
    {11: What.HOST_TO_DEVICE, 12: What.DEVICE_TO_HOST, 13: What.DEVICE_TO_DEVICE},
    others=("_UNKNOWN", "_HTOD", "_DTOH", "_HTOA", "_ATOH", "_ATOA", "_ATOD", "_DTOA", "_DTOD", "_HTOH", "_PTOP"),
    labels={
        "unified host-to-device": What.HOST_TO_DEVICE,
        "unified device-to-host": What.DEVICE_TO_HOST,
        "unified device-to-device": What.DEVICE_TO_DEVICE,
    },
)
EXPLICIT_COPIES = Enumeration(
    "ENUM_CUDA_MEMCPY_OPER",
    {
        **dict.fromkeys(("UVM_HTOD", "UVM_DTOH", "UVM_DTOD"), "managed"),
        "_HTOD": "in",
        "_DTOH": "out",
        **dict.fromkeys(("_DTOD", "_HTOA", "_ATOH", "_ATOA", "_ATOD", "_DTOA", "_HTOH", "_PTOP"), "other"),
    },
    {1: "in", 2: "out", **dict.fromkeys(range(3, 11), "other"), **dict.fromkeys((11, 12, 13), "managed")},
    others=("_UNKNOWN",),
    labels={
        "host-to-device": "in",
        "device-to-host": "out",
        **{f"unified {way}": "managed" for way in ("host-to-device", "device-to-host", "device-to-device")},
    },
)
"""The same copies, for programs that copy by themselves."""
CAUSES = Enumeration(
    "ENUM_CUDA_UNIF_MEM_MIGRATION",
    {f"CAUSE_{cause.name}": cause for cause in Cause},
    {int(cause): cause for cause in Cause},
)
ACCESSES = Enumeration(
    "ENUM_CUDA_UNIF_MEM_ACCESS_TYPE",
    {f"_{access.name}": access for access in Access},
    {int(access): access for access in Access},
)
MEMORY_KINDS = Enumeration(
    "ENUM_CUDA_MEM_KIND",
    {
        "MANAGED_STATIC": "managed static",
        "DEVICE_STATIC": "device static",
        "MANAGED": "managed",
        "DEVICE": "device",
        "PINNED": "pinned",
        "PAGEABLE": "pageable",
        "ARRAY": "array",
    },
    {
        0: "pageable",
        1: "pinned",
        2: "device",
        3: "array",
        4: "managed",
        5: "device static",
        6: "managed static",
    },
)
MANAGED = ("managed", "managed static")
"""Kinds of memory that moves."""
OPERATIONS = Enumeration("ENUM_CUDA_DEV_MEM_EVENT_OPER", {"DEALLOCATION": 0, "ALLOCATION": 1}, {0: 1, 1: 0})
"""1 allocates, 0 frees."""
