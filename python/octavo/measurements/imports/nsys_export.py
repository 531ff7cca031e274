"""An SQLite file of a profiler, open for reading: its tables, and their rows in pieces of bounded size."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar
from urllib.parse import quote

from octavo.arrays import np
from octavo.errors import ProfileError
from octavo.measurements.imports.nsys_schema import KNOWN_SCHEMAS, METADATA, NVPROF_TEXTS, STRINGS, TABLES

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from octavo.measurements.imports.nsys_schema import Enumeration

    Watch = Callable[[float, str], None]
    Numbers = npt.NDArray[np.int64]

MAGIC = b"SQLite format 3\x00"
_HEADER_BYTES = 100
_ROWS_AT_A_TIME = 1 << 16


class Export:
    """An open file; every problem with it raises a ProfileError."""

    tool: ClassVar[str] = "nsys"
    again: ClassVar[str] = "export it again with `nsys export --type sqlite REPORT`"
    """What to do about a damaged file."""
    record: ClassVar[str] = (
        "record with `nsys profile --trace=cuda --cuda-memory-usage=true PROGRAM`, "
        "then `nsys export --type sqlite REPORT`"
    )
    """How to record a program that copies by itself."""
    known: ClassVar[str] = KNOWN_SCHEMAS
    left_out: ClassVar[dict[str, str]] = {
        "CUPTI_ACTIVITY_KIND_MEMSET": "fillings of memory (cudaMemset), left out",
    }
    """Tables of which a program takes nothing, and what is said of their rows."""

    def __init__(self, path: Path, connection: sqlite3.Connection, watch: Watch | None = None) -> None:
        self.path = path
        self._connection = connection
        self._watch = watch
        self._done = 0
        kinds = {str(name): kind for name, kind in self._all("SELECT name, type FROM sqlite_master")}
        self._views = {name for name, kind in kinds.items() if kind == "view"}
        """Views could have endless rows; no tool writes one."""
        self._stored = {name: self._columns(name) for name, kind in kinds.items() if kind == "table"}
        """The tables of the file, and their columns."""
        self._check_tool()
        self.columns = self._readable()
        """Names of the columns of every table that can be read."""
        self._total = sum(map(self._size, self.columns.keys() & TABLES.keys()))

    @classmethod
    def connect(cls, path: Path) -> sqlite3.Connection:
        """Open a file for reading; errors as `opened`."""
        _check_file(path, cls)
        try:
            return sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro", uri=True)
        except sqlite3.Error as error:
            raise ProfileError(f"cannot read {path}: {error}", code="unreadable", file=path) from None

    def _check_tool(self) -> None:
        """Refuse the file of another tool.

        Raises:
            ProfileError: it is one.

        """
        if NVPROF_TEXTS in self._stored and STRINGS not in self._stored:
            message = f"{self.path}: expected the table {STRINGS}, found nvprof's {NVPROF_TEXTS}"
            raise ProfileError(message, "`octavo import nvprof` reads it", code="missing", file=self.path, key=STRINGS)

    def _readable(self) -> dict[str, tuple[str, ...]]:
        return self._stored

    def _relation(self, table: str) -> str:
        """What stands behind FROM in a query."""
        return f'"{table}"'

    def check(self, table: str) -> bool:
        """Whether there is such a table. If there is, its required columns are checked.

        Raises:
            ProfileError: it is a view, or a column that is needed is missing.

        """
        return self._check(table, TABLES[table].needed)

    def _check(self, table: str, needed: Sequence[str]) -> bool:
        if table in self._views:
            raise ProfileError(
                f"{self.path}: {table}: expected a table, found a view",
                self.again,
                file=self.path,
                code="unexpected-value",
                key=table,
            )
        if table not in self._stored:
            return False
        have = self._stored[table]
        for column in needed:
            if column not in have:
                raise ProfileError(
                    f"{self.path}: table {table}: expected the column `{column}`, found "
                    f"{', '.join(have)}; the file has schema {self.schema}, known are {self.known}",
                    f"write the file again with another version of {self.tool}",
                    code="unexpected-value",
                    file=self.path,
                    key=column,
                    expected=column,
                )
        return True

    def count(self, table: str) -> int:
        """How many rows a table of the file has; 0 if there is no such table."""
        if table not in self._stored:
            return 0
        return int(self._all(f'SELECT COUNT(*) FROM "{table}"')[0][0])  # noqa: S608 - our own names

    def kernel_name(self, text: str) -> str:
        """The name of a kernel as people write it."""
        return text

    @property
    def schema(self) -> str:
        """Version of the file's schema."""
        return self.metadata("EXPORT_SCHEMA_VERSION") or "of unknown version"

    def metadata(self, name: str) -> str | None:
        """A property of the export."""
        known = dict(row for table in METADATA for row in self.rows(table, ["name", "value"]))
        return str(known[name]) if name in known else None

    def chunks(self, table: str) -> Iterator[dict[str, Numbers]]:
        """Rows of a table in pieces, column by column; -1 stands for missing values and columns."""
        for rows in self._pieces(table, []):
            with self._reading(table):
                columns = np.array(rows, np.int64).T
            yield dict(zip(TABLES[table].columns, columns, strict=True))

    def records(self, table: str) -> Iterator[tuple[Any, ...]]:
        """Rows of a table one by one: numbers as in `chunks`, then the name of the variable, if it has one."""
        for rows in self._pieces(table, ["name"]):
            for *numbers, name in rows:
                with self._reading(table):
                    values = [int(number) for number in numbers]
                yield *values, name if isinstance(name, str) else None

    def _pieces(self, table: str, texts: Sequence[str]) -> Iterator[list[tuple[Any, ...]]]:
        """The rows after a given one: the known columns of the table, and some texts."""
        have = self.columns[table]
        numbers = (f'COALESCE("{name}", -1)' if name in have else "-1" for name in TABLES[table].columns)
        others = (f'"{name}"' if name in have else "NULL" for name in texts)
        with self._reading(table):
            query = f"SELECT {', '.join([*numbers, *others])} FROM {self._relation(table)}"  # noqa: S608 - our own names
            cursor = self._connection.execute(query)
            while rows := cursor.fetchmany(_ROWS_AT_A_TIME):
                self._progress(table, len(rows))
                yield rows

    def rows(self, table: str, columns: Sequence[str]) -> list[tuple[Any, ...]]:
        """Every row of a small table; empty if there is no such table, null for columns that it lacks."""
        have = self.columns.get(table)
        if have is None:
            return []
        chosen = ", ".join(f'"{name}"' if name in have else "NULL" for name in columns)
        with self._reading(table):
            return self._connection.execute(f"SELECT {chosen} FROM {self._relation(table)}").fetchall()  # noqa: S608

    def meanings(self, of: Enumeration, notes: Counter[str] | None = None) -> dict[int, int | str]:
        """The meaning of numbers: from the file, or the usual one if the file does not say.

        A name that no known version uses leaves the number its usual meaning, and causes a note.
        """
        found = dict(of.numbers)
        for number, name, label in self.rows(of.table, ["id", "name", "label"]):
            if not isinstance(number, int) or not isinstance(name, str):
                continue
            meaning = of.meaning(name, label if isinstance(label, str) else "")
            if meaning is not None:
                found[number] = meaning
            elif of.is_known(name):
                found.pop(number, None)
            elif number in found and notes is not None:
                notes[f"`{name[:60]}` of {of.table}: unknown name, number {number} is taken as usual"] = 1
        return found

    def _columns(self, table: str) -> tuple[str, ...]:
        return tuple(str(row[0]) for row in self._all("SELECT name FROM pragma_table_info(?)", (table,)))

    def _size(self, table: str) -> int:
        """About how many rows there are: counting them would take as long as reading them."""
        try:
            found = self._connection.execute(f'SELECT MAX(rowid) FROM "{table}"').fetchone()[0]  # noqa: S608
        except sqlite3.Error:
            return 0
        return found if isinstance(found, int) else 0

    def _progress(self, table: str, rows: int) -> None:
        self._done += rows
        if self._watch is not None:
            self._watch(min(self._done / max(self._total, self._done), 1.0), table)

    def _all(self, query: str, values: tuple[str, ...] = ()) -> list[tuple[Any, ...]]:
        with self._reading("its schema"):
            return self._connection.execute(query, values).fetchall()

    @contextmanager
    def _reading(self, what: str) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, MemoryError) as error:  # SQLite has no memory for the sizes that a damaged file claims
            raise ProfileError(
                f"{self.path} is damaged: {what} cannot be read: {str(error) or 'it takes more memory than there is'}",
                self.again,
                code="damaged",
                file=self.path,
            ) from None
        except (ValueError, TypeError, OverflowError) as error:
            raise ProfileError(
                f"{self.path} is damaged: {what}: expected numbers, found: {error}",
                self.again,
                code="damaged",
                file=self.path,
            ) from None


Some = TypeVar("Some", bound=Export)


@contextmanager
def opened(path: Path, kind: type[Some], watch: Watch | None = None) -> Iterator[Some]:
    """Open an export.

    Args:
        path: the file, which is not changed.
        kind: whose file it is.
        watch: called with the share that is read and the table that is being read.

    Raises:
        ProfileError: it is not an SQLite file, it is cut off, or it cannot be read.

    """
    connection = kind.connect(path)
    try:
        connection.text_factory = lambda text: text.decode("utf-8", "replace")
        yield kind(path, connection, watch)
    finally:
        connection.close()


def is_database(path: Path) -> bool:
    """Whether a file is one of SQLite.

    Raises:
        ProfileError: it cannot be read.

    """
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError as error:
        raise ProfileError(f"cannot read {path}: {error.strerror}", code="unreadable", file=path) from None


def _check_file(path: Path, kind: type[Export]) -> None:
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER_BYTES)
    except OSError as error:
        raise ProfileError(f"cannot read {path}: {error.strerror}", code="unreadable", file=path) from None
    if not header.startswith(MAGIC):
        hint = kind.again
        if path.suffix in (".nsys-rep", ".qdrep"):
            hint = f"this is a report; `nsys export --type sqlite {path.name}` makes an SQLite file of it"
        raise ProfileError(f"{path} is not an SQLite file", hint, file=path)
    expected, found = _length(header), path.stat().st_size
    if found < expected:
        raise ProfileError(
            f"{path} is cut off: expected {expected:,} bytes, found {found:,}",
            kind.again,
            code="unexpected-value",
            file=path,
            expected=expected,
            found=found,
        )


def _length(header: bytes) -> int:
    """The size of a file according to its header (sqlite.org/fileformat2.html, 1.3); 0 if the header does not say."""
    if len(header) < _HEADER_BYTES:
        return _HEADER_BYTES
    page = int.from_bytes(header[16:18], "big")
    pages = int.from_bytes(header[28:32], "big")
    written_by_current = header[24:28] == header[92:96]
    return (65536 if page == 1 else page) * pages if written_by_current else 0
