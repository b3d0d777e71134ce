"""Which folder of an `annotation_output` is whose. Potato logs a user in by the folder's name."""

import re
import unicodedata
from pathlib import Path

from potato_bridge.converters.potato.sidecar import read_annotator
from potato_bridge.converters.potato.user_states import STATE
from potato_bridge.notices import Notices

#: The rule of Potato's own importers.
_UNSAFE = re.compile(r"[^A-Za-z0-9_.@-]+")
_LONGEST = 100


class UserFolders:
    """Annotators to folders; what is there is looked at once.

    Args:
        root: The `annotation_output`.
        notices: Gets who has to log in by another name.

    Raises:
        InputError: A sidecar is damaged.
        StateError: A newer version wrote a sidecar.
    """

    def __init__(self, root: Path, notices: Notices) -> None:
        self._root = root
        self._notices = notices
        self._of: dict[str, Path] = {}
        self._taken: set[str] = set()
        for folder in sorted(root.iterdir()) if root.is_dir() else ():
            self._taken.add(_collision_key(folder.name))
            annotator = read_annotator(folder) if folder.is_dir() else None
            if annotator is not None:
                self._of[annotator] = folder
            elif (folder / STATE).is_file():
                self._of.setdefault(folder.name, folder)

    def find(self, annotator: str) -> Path | None:
        """The folder that is there for an annotator, or None."""
        return self._of.get(annotator)

    def choose(self, annotator: str) -> Path:
        """The annotator's folder, or the one to make: never one that is somebody else's."""
        folder = self._of.get(annotator)
        if folder is None:
            base = _UNSAFE.sub("_", annotator).strip("._")[:_LONGEST] or "annotator"
            name, number = base, 1
            while _collision_key(name) in self._taken:
                number += 1
                name = f"{base}_{number}"
            self._taken.add(_collision_key(name))
            folder = self._of[annotator] = self._root / name
        if folder.name != annotator:
            message = f"{annotator} is the user {folder.name} in Potato, whose user names are names of folders"
            self._notices.add("user-renamed", message)
        return folder


def _collision_key(name: str) -> str:
    """Names that are one folder on some file systems have the same key."""
    return unicodedata.normalize("NFC", name).casefold()
