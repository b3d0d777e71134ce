"""Writing files so that a reader sees the old one or the new one, never half of one; and locks between processes."""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, BinaryIO


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write that takes the place of `path` when the block ends well, and vanishes when it does not.

    The folder must exist. What was written is on the disk before the old file goes.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def filling(folder: Path) -> Iterator[Path]:
    """A folder to write files into, which go to `folder` when the block ends well, and vanish when it does not.

    The folder is made where it is missing, its parent must exist. A file that it has by such a name is replaced, others
    stay.
    """
    missing = not folder.exists()
    folder.mkdir(exist_ok=True)
    temporary = folder / f".{os.getpid()}.tmp"
    temporary.mkdir()
    done = False
    try:
        yield temporary
        for file in sorted(temporary.iterdir()):
            os.replace(file, folder / file.name)
        done = True
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        if missing and not done:
            with suppress(OSError):
                folder.rmdir()


def lock(path: Path) -> IO[bytes] | None:
    """Locks a file, which is made if it is missing, and writes this process's number into it.

    Returns:
        The open file: the lock lasts until it is closed or the process ends, however it ends. None where another
        process holds it.

    Raises:
        OSError: The file cannot be written.
    """
    file = open(path, "a+b")
    try:
        if sys.platform == "win32":
            import msvcrt

            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    file.truncate(0)
    file.write(str(os.getpid()).encode())
    file.flush()
    return file
