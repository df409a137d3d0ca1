#!/usr/bin/env bash
# Prints the path of the shared library of a venv's Python, or nothing: libpython.sh PREFIX
set -euo pipefail
exec "$1/bin/ros-python" - <<'PY'
import sysconfig
from pathlib import Path

get = sysconfig.get_config_var
name = f"libpython{get('LDVERSION')}.so.1.0"
folders = [Path(folder) for folder in (get("LIBDIR"), get("LIBPL"), f"/usr/lib/{get('MULTIARCH')}") if folder]
print(next((folder / name for folder in folders if (folder / name).exists()), ""))
PY
