"""A copy of the workspace in which all mutants of a package are compiled, and the programs of its tests."""

import json
import re
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from schemata import RUST, Mutant, Source, above, innermost, part, words

PROFILE = """
[profile.dev.package.{package}]
opt-level = 2
"""

SWITCH = "octavo_switch.rs"
"""The module with the switch, in the copy."""

QUIET = {"warnings": "allow", "arithmetic_overflow": "allow", "unconditional_panic": "allow", "unsafe_code": "allow"}
"""What the compiler is not to say of code that is broken on purpose."""


class Schemata:
    """The mutants of a package, and the copy of the workspace that holds them."""

    def __init__(self, root: Path, commit: str, package: str, files: list[str]) -> None:
        self.tree, self.package, self.files = root / "tree", package, files
        self.found = root / "mutants.json"
        if not self.tree.exists():
            fresh = root / "unfinished"
            shutil.rmtree(fresh, ignore_errors=True)
            check_out(fresh, commit)
            prepare(fresh, package)
            fresh.rename(self.tree)
        self.sources: dict[str, Source] = {}
        first = 0
        for file, listed in by_file(self.listed(root / "listed.json")).items():
            original = subprocess.run(["git", "show", f"{commit}:{file}"], check=True, stdout=subprocess.PIPE).stdout
            self.sources[file] = Source(original, listed, first)
            first += len(listed)

    def listed(self, kept: Path) -> list[dict[str, Any]]:
        """What cargo-mutants would break."""
        if not kept.exists():
            chosen = ["--package", self.package, *(f"--file={pattern}" for pattern in self.files)]
            command = ["cargo", "mutants", "--list", "--json", *chosen]
            text = subprocess.run(command, cwd=self.tree, check=True, stdout=subprocess.PIPE, text=True).stdout
            own = [entry for entry in json.loads(text) if Path(entry["file"]).name != SWITCH]
            kept.write_text(json.dumps([{**entry, "diff": ""} for entry in own]))
        return list(json.loads(kept.read_text()))

    def mutants(self) -> list[Mutant]:
        """All of them, in order of their numbers."""
        return [mutant for source in self.sources.values() for mutant in source.mutants]

    def compile(self) -> None:
        """Writes the sources, leaves out what does not compile, and keeps what was found."""
        if self.found.exists():
            left_out = json.loads(self.found.read_text())
            for mutant in self.mutants():
                mutant.left_out = left_out[mutant.name]["left_out"]
            return
        self.settle(["--lib"], set(self.sources))
        self.settle(["--lib", "--tests"], set())
        self.found.write_text(json.dumps({mutant.name: asdict(mutant) for mutant in self.mutants()}, indent=1))

    def settle(self, targets: list[str], touched: set[str]) -> None:
        """Leaves out mutants until these targets compile."""
        errors: list[dict[str, Any]] = []
        while touched or not errors:
            for file in touched:
                (self.tree / file).write_bytes(self.sources[file].rewritten())
            errors = check(self.tree, [*targets, "--package", self.package])
            touched = {file for error in errors for file in self.blame(error)}
            live = sum(not mutant.left_out for mutant in self.mutants())
            print(f"{len(errors)} errors; {live} mutants", flush=True)
            if not errors:
                return
            if not touched:
                sys.exit("\n".join(error["rendered"] for error in errors))

    def blame(self, error: dict[str, Any]) -> set[str]:
        """Leaves out what an error is about; files to be written again."""
        if constant := re.match(r"cannot call non-const .*`(.*)` in const", error["message"]):
            path = re.sub("<.*?>", "", constant[1]).split("::")
            for source in self.sources.values():
                source.keep_constant("::".join(path[-2:]) if path[-2:][0][:1].isupper() else path[-1])
            if path[-1] not in ("on", "pick"):
                return set(self.sources)
        for file, byte in places(error):
            if is_code(error, "E0004") and file in self.sources:
                return {file} if leave_out_arm(self.sources[file], (self.tree / file).read_bytes(), byte) else set()
            if file in self.sources and (marks := innermost((self.tree / file).read_bytes(), byte)):
                leave_out(self.sources[file], marks, error)
                return {file}
        return set()

    def programs(self, package: str) -> list[tuple[Path, Path]]:
        """Test programs of a package, and the folder that each is started in."""
        command = ["cargo", "test", "--no-run", "--lib", "--tests", "--message-format=json", "--package", package]
        text = subprocess.run(command, cwd=self.tree, check=True, stdout=subprocess.PIPE, text=True).stdout
        built = [json.loads(line) for line in text.splitlines()]
        return [(Path(one["executable"]), Path(one["manifest_path"]).parent) for one in built if one.get("executable")]


def check_out(tree: Path, commit: str) -> None:
    """The files of a commit."""
    tree.mkdir(parents=True)
    archive = subprocess.run(["git", "archive", commit], check=True, stdout=subprocess.PIPE).stdout
    subprocess.run(["tar", "-x"], cwd=tree, input=archive, check=True)


def prepare(tree: Path, package: str) -> None:
    """Puts the switch into the package, and has it compiled to run fast and to check itself."""
    folder = tree / "crates" / package
    shutil.copy(Path(__file__).parent / "switch.rs", folder / "src" / SWITCH)
    with (folder / "src" / "lib.rs").open("a") as root:
        root.write("\n#[doc(hidden)]\npub mod octavo_switch;\n")
    manifest = tree / "Cargo.toml"
    text = manifest.read_text() + PROFILE.format(package=package)
    lints = "".join(f'{name} = "{level}"\n' for name, level in QUIET.items())
    text, count = re.subn(r"(?ms)^\[workspace\.lints\.rust\]\n.*?(?=^\[)", f"[workspace.lints.rust]\n{lints}\n", text)
    if count != 1:
        sys.exit(f"{manifest} has no table of lints for rust")
    manifest.write_text(text)


def by_file(listed: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Mutants by file, in order of their places."""
    files: dict[str, list[dict[str, Any]]] = {}
    for entry in sorted(listed, key=lambda one: (one["file"], one["span"]["start"]["line"], one["name"])):
        files.setdefault(entry["file"], []).append(entry)
    return files


def check(tree: Path, targets: list[str]) -> list[dict[str, Any]]:
    """Errors of the compiler."""
    command = ["cargo", "check", "--quiet", "--message-format=json", *targets]
    found = subprocess.run(command, cwd=tree, check=False, stdout=subprocess.PIPE, text=True)
    messages = [json.loads(line) for line in found.stdout.splitlines()]
    errors = [one["message"] for one in messages if one.get("reason") == "compiler-message"]
    errors = [one for one in errors if one["level"] == "error" and one["spans"]]
    if found.returncode and not errors:
        sys.exit(f"cargo check failed: {found.stdout[-2000:]}")
    return errors


def places(error: dict[str, Any]) -> list[tuple[str, int]]:
    """Files and bytes that an error names, what it is about first."""
    spans = sorted(error["spans"], key=lambda span: not span["is_primary"])
    found = []
    for one in spans:
        span = one
        while span.get("expansion"):
            span = span["expansion"]["span"]
        found.append((span["file_name"], span["byte_start"]))
    return found


def is_code(error: dict[str, Any], code: str) -> bool:
    """Whether an error is of a kind."""
    return (error.get("code") or {}).get("code") == code


def leave_out_arm(source: Source, text: bytes, byte: int) -> bool:
    """Leaves out the last arm of a match that has to be there: behind a switch it does not count as there."""
    found = RUST.parse(text).root_node.descendant_for_byte_range(byte, byte)
    arms = part(above(found, "match_expression"), "body").children if found else []
    for arm in reversed(arms):
        numbers = re.findall(r"if !crate::octavo_switch::on\((\d+)\)", words(arm).split("=>")[0])
        for mutant in source.mutants:
            if str(mutant.number) in numbers and not mutant.left_out:
                mutant.left_out = "does not compile: a match has to be exhaustive"
                return True
    return False


def leave_out(source: Source, marks: list[tuple[str, int]], error: dict[str, Any]) -> None:
    """Writes a place the second way, or leaves out the mutant that an error is about, or its whole place."""
    kind, number = marks[-1]
    around = number if kind == "g" else next(other for mark, other in reversed(marks) if mark == "g")
    site = next(one for one in source.sites.values() if one.mutants[0].number == around)
    if not site.twice and site.mutants[0].genre in ("BinaryOperator", "UnaryOperator"):
        site.twice = True
        return
    if is_code(error, "E0015"):
        why = "constant"
    else:
        why = f"{'does not compile' if kind == 'm' else 'cannot be switched'}: {error['message']}"
    # Nobody says which one: the last is the least simple.
    broken = [one for one in site.live() if one.number == number] if kind == "m" else site.live()[-1:]
    for mutant in broken:
        mutant.left_out = why
