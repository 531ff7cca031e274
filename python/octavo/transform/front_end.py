"""The front end: libclang reads a CUDA file, or says what is wrong with it."""

from __future__ import annotations

import ctypes
import glob
import os
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from octavo.errors import OctavoError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

INCLUDE = Path(__file__).parent / "include"
"""The folder of the headers that transformed programs need."""
_DECLARATIONS = INCLUDE / "stub"
_INTEGER = 1
"""Number of an integer result in libclang: CXEval_Int."""
_KEEP_GOING = 0x200
"""libclang's CXTranslationUnit_KeepGoing, which its Python side has no name for: a missing header ends nothing."""
_SPACED = re.compile(rb"<<[ \t]+<(?!<)|>>[ \t]+>(?=\s*\()")
"""The marks of a launch with a space inside, which nvcc takes and clang does not."""
_MOST_ERRORS = 5
"""Our choice: what follows the first errors is mostly their consequence."""
_LENIENT = ("-Wno-c++11-narrowing", "-Wno-register", "-Wno-reserved-user-defined-literal")
"""What nvcc takes with a warning, and clang refuses."""


class TransformError(OctavoError):
    """A source file that cannot be transformed."""

    code = "bad-program"
    exit_code = 2


@dataclass(frozen=True)
class Reading:
    """How a file is to be read."""

    include: tuple[Path, ...] = ()
    """Folders with headers."""
    define: tuple[str, ...] = ()
    """Macros, as `NAME` or `NAME=VALUE`."""
    standard: str = "c++17"

    def flags(self) -> list[str]:
        """The flags as clang takes them."""
        return [
            *("-x", "cuda", "--cuda-host-only", "-nocudainc", "-nocudalib", f"-std={self.standard}"),
            *("-Xclang", "-fcuda-allow-variadic-functions"),  # Kernels print.
            *("-ferror-limit=0", *_LENIENT),
            f"-I{_DECLARATIONS}",  # Before a toolkit's own headers, which ask for the compiler that they are made for.
            *(f"-I{folder}" for folder in self.include),
            *(f"-D{macro}" for macro in self.define),
            *("-isystem", str(INCLUDE), "-include", "cuda_runtime.h"),
            *(flag for folder in (*_compiler_headers(), *_toolkit()) for flag in ("-idirafter", folder)),
        ]


@dataclass(frozen=True)
class Problem:
    """An error of clang's."""

    path: str | None
    line: int
    column: int
    offset: int
    """Byte of the file: of what a macro writes, where the macro is used."""
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.message}" if self.path else f"clang: {self.message}"


def check_installed() -> None:
    """Raises TransformError if libclang is not installed."""
    try:
        import clang  # noqa: F401, PLC0415 - an extra
    except ImportError:
        raise TransformError(
            "libclang is not installed", "install it with `pip install 'octavo[transform]'`", code="not-installed"
        ) from None


def parse(path: Path, reading: Reading, text: bytes | None = None) -> Any:
    """The translation unit of a file, or of `text` as if it stood there, whatever `problems` there are in it.

    Raises:
        TransformError: libclang is not there, or makes nothing of the file.

    """
    cindex = _imported()
    given = _as_clang_takes_it(path, text)
    unsaved = [] if given is None else [(str(path), given)]
    options = cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD | _KEEP_GOING
    try:
        return cindex.Index.create().parse(str(path), reading.flags(), unsaved, options)
    except cindex.TranslationUnitLoadError as error:
        raise TransformError(f"clang cannot read {path}: {error}", code="unreadable", file=path) from error


def _as_clang_takes_it(path: Path, text: bytes | None) -> str | None:
    """The text that libclang reads instead of the file, of the same length; nothing if the file itself will do."""
    if text is None:
        text = path.read_bytes() if path.is_file() else b""
        if not _SPACED.search(text):
            return None
    joined = _SPACED.sub(lambda found: b"".join(found[0].split()) + b" " * (len(found[0]) - 3), text)
    try:
        return joined.decode()
    except UnicodeDecodeError:  # Comments and literals need not be UTF-8, but what libclang is given must.
        return re.sub(rb"[\x80-\xff]", b"?", joined).decode("ascii")


def problems(unit: Any) -> list[Problem]:
    """Errors of clang's, also those in headers, in their order."""
    found = []
    for each in unit.diagnostics:
        if each.severity >= _imported().Diagnostic.Error:
            path, offset = file_offset(each.location)
            found.append(Problem(path, each.location.line, each.location.column, offset, each.spelling))
    return found


def refused(path: Path, errors: Sequence[Problem]) -> TransformError:
    """The error for a file in which nothing could be understood."""
    lines = [str(each) for each in errors[:_MOST_ERRORS]]
    if len(errors) > _MOST_ERRORS:
        lines.append(f"and {len(errors) - _MOST_ERRORS} more")
    missing = any("file not found" in each.message for each in errors)
    hint = (
        "name folders of headers with -I; those of the C++ library come with g++ or clang"
        if missing
        else "the file is parsed with Octavo's declarations of the CUDA runtime; -I and -D say what else it needs"
    )
    return TransformError("\n".join([f"{path} does not parse; nothing was changed", *lines]), hint)


@cache
def _imported() -> ModuleType:
    check_installed()
    try:
        from clang import cindex  # noqa: PLC0415 - an extra

        library = cindex.conf.lib
    except Exception as error:
        raise TransformError(f"libclang does not load: {error}", "install `octavo[transform]` again") from error
    library.clang_getFileLocation.argtypes = [
        cindex.SourceLocation,
        *(ctypes.POINTER(kind) for kind in (cindex.c_object_p, ctypes.c_uint, ctypes.c_uint, ctypes.c_uint)),
    ]
    library.clang_getFileLocation.restype = None
    library.clang_Cursor_Evaluate.argtypes = [cindex.Cursor]
    library.clang_Cursor_Evaluate.restype = ctypes.c_void_p
    library.clang_EvalResult_getAsLongLong.restype = ctypes.c_longlong
    library.clang_EvalResult_dispose.restype = None
    for read in (library.clang_EvalResult_getKind, library.clang_EvalResult_getAsLongLong):
        read.argtypes = [ctypes.c_void_p]
    library.clang_EvalResult_dispose.argtypes = [ctypes.c_void_p]
    library.clang_getSkippedRanges.argtypes = [cindex.TranslationUnit, cindex.File]
    library.clang_getSkippedRanges.restype = ctypes.c_void_p
    library.clang_disposeSourceRangeList.argtypes = [ctypes.c_void_p]
    library.clang_disposeSourceRangeList.restype = None
    module: ModuleType = cindex
    return module


def file_offset(location: Any) -> tuple[str | None, int]:
    """File and byte where a location is written: of an argument of a macro, where the argument stands."""
    cindex = _imported()
    file, line, column, offset = cindex.c_object_p(), ctypes.c_uint(), ctypes.c_uint(), ctypes.c_uint()
    cindex.conf.lib.clang_getFileLocation(location, *map(ctypes.byref, (file, line, column, offset)))
    return (cindex.File(file).name if file else None), offset.value


def constant(cursor: Any) -> int | None:
    """The value of an expression of integers, if the compiler knows it."""
    library = _imported().conf.lib
    result = library.clang_Cursor_Evaluate(cursor)
    if result is None:
        return None
    try:
        known = library.clang_EvalResult_getKind(result) == _INTEGER
        return int(library.clang_EvalResult_getAsLongLong(result)) if known else None
    finally:
        library.clang_EvalResult_dispose(result)


def skipped(unit: Any, path: str) -> list[tuple[int, int]]:
    """Bytes of a file, from and to, that the preprocessor leaves out, with the directives around them."""
    cindex = _imported()

    class Ranges(ctypes.Structure):
        _fields_ = (("count", ctypes.c_uint), ("ranges", ctypes.POINTER(cindex.SourceRange)))

    found = cindex.conf.lib.clang_getSkippedRanges(unit, unit.get_file(path))
    try:
        listed = Ranges.from_address(found)
        ranges = [listed.ranges[index] for index in range(listed.count)]
        return [(file_offset(each.start)[1], file_offset(each.end)[1]) for each in ranges]
    finally:
        cindex.conf.lib.clang_disposeSourceRangeList(found)


@cache
def _compiler_headers() -> tuple[str, ...]:
    """Headers that a compiler brings along, such as <stddef.h>: libclang's package has none."""
    patterns = ("/usr/lib/llvm-*/lib/clang/*/include", "/usr/lib/clang/*/include", "/usr/lib/gcc/*/*/include")
    for pattern in patterns:
        if found := sorted(glob.glob(pattern), key=_version):  # noqa: PTH207 - absolute patterns
            return (found[-1],)
    return ()


@cache
def _toolkit() -> tuple[str, ...]:
    """Headers of an installed CUDA toolkit, as CMake looks for it: libraries such as cuBLAS are declared there."""
    places = (*(os.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH")), "/usr/local/cuda")
    folders = (Path(place) / "include" for place in places if place)
    return next(((str(folder), str(folder / "cccl")) for folder in folders if folder.is_dir()), ())


def _version(folder: str) -> tuple[int, ...]:
    return tuple(int(part) for part in Path(folder).parent.name.split(".") if part.isdigit())
