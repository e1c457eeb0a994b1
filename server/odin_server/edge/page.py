"""A folder of files that is shown to browsers: read once, so that no request reaches the disk."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
_MOST_BYTES: Final = 32 * 1024 * 1024
"""What a folder may hold: a page is small, and a home folder that was named by mistake is not."""


class NoPage(Exception):
    """The folder cannot be shown."""


class File(NamedTuple):
    """A file of the page."""

    kind: str
    """Its type, as HTTP writes it."""
    data: bytes


def files_of(folder: Path) -> Mapping[str, File]:
    """The files of a folder by the paths of their addresses; "/" is its index.html.

    Hidden files and files of other types than those of pages are left out. Raises NoPage.
    """
    files: dict[str, File] = {}
    size = 0
    try:
        if not (folder / "index.html").is_file():
            raise NoPage(f"{folder} holds no index.html, so there is no page to show.")
        for path in sorted(folder.rglob("*")):
            within = path.relative_to(folder)
            kind = _TYPES.get(path.suffix)
            if kind is None or any(part.startswith(".") for part in within.parts):
                continue
            if not path.is_file():
                continue
            size += path.stat().st_size
            if size > _MOST_BYTES:
                raise NoPage(f"{folder} holds more than a page: name the folder of the page alone.")
            files[f"/{within.as_posix()}"] = File(kind, path.read_bytes())
    except OSError as error:
        raise NoPage(f"{folder} cannot be read: {error.strerror}.") from None
    files["/"] = files["/index.html"]
    return files
