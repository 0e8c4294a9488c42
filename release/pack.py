"""Packs a folder into a `.tgz` or a `.zip` whose bytes depend on nothing but its files.

usage: pack.py FOLDER ARCHIVE SECONDS      SECONDS since 1970: the time that all files get
"""

import gzip
import os
import sys
import tarfile
import time
import zipfile

folder, archive, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3])
above = os.path.dirname(folder)
names = sorted(
    os.path.relpath(os.path.join(place, name), above).replace(os.sep, "/")
    for place, _, files in os.walk(folder)
    for name in files
)


def mode(name):
    program = os.path.dirname(os.path.dirname(name)) == "" and os.path.basename(name).startswith("cargo-agents")
    return 0o755 if program else 0o644


if archive.endswith(".zip"):
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name in names:
            entry = zipfile.ZipInfo(name, time.gmtime(seconds)[:6])
            entry.external_attr = mode(name) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            with open(os.path.join(above, name), "rb") as file:
                zipped.writestr(entry, file.read())
else:
    with open(archive, "wb") as raw, gzip.GzipFile("", "wb", mtime=seconds, fileobj=raw) as zipped:
        with tarfile.open(fileobj=zipped, mode="w", format=tarfile.USTAR_FORMAT) as packed:
            for name in names:
                path = os.path.join(above, name)
                entry = tarfile.TarInfo(name)
                entry.size, entry.mtime, entry.mode = os.path.getsize(path), seconds, mode(name)
                with open(path, "rb") as file:
                    packed.addfile(entry, file)
