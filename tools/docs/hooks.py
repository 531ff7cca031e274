"""What MkDocs asks us for: reference pages made from the package itself, and links that lead out of docs/."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File

sys.path.insert(0, str(Path(__file__).parent))

import reference

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
_OUTWARD = re.compile(r"\[([^\]]*)\]\(((?:\.\./)+)([^)#]*)\)")
_SHOWN = {".toml", ".csv"}
"""Files of the repository that the site carries; of others it says where they are."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages, and the files of the repository that pages link to."""
    for path, content in reference.pages().items():
        files.append(File.generated(config, path, content=content))
    linked = {
        target
        for file in files.documentation_pages()
        if file.abs_src_path and file.src_uri.endswith(".md")
        for _, ups, target in _OUTWARD.findall(Path(file.abs_src_path).read_text(encoding="utf-8"))
        if _leads_out(file.src_uri, ups) and _is_shown(target)
    }
    for target in sorted(linked):
        files.append(File.generated(config, f"repository/{target}", abs_src_path=str(ROOT / target)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Point links to files of the repository at the site's copy, or say where in the repository they are."""

    def replacement(found: re.Match[str]) -> str:
        text, ups, target = found.groups()
        if not _leads_out(page.file.src_uri, ups):
            return found[0]
        if _is_shown(target):
            below = "../" * (ups.count("../") - 1)
            return f"[{text}]({below}repository/{target})"
        if not (ROOT / target).exists():
            return found[0]  # MkDocs complains.
        return f"{text} (`{target}` in the repository)" if target not in text else text

    return _OUTWARD.sub(replacement, markdown)


def _leads_out(page: str, ups: str) -> bool:
    """Whether a link with so many `../` leaves docs/."""
    return ups.count("../") > page.count("/")


def _is_shown(target: str) -> bool:
    path = ROOT / target
    return path.is_file() and path.suffix in _SHOWN
