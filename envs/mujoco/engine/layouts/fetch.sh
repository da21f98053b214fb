#!/bin/sh
# Puts a release of MuJoCo into CACHE/VERSION, from the Python package for this
# machine, and prints the path of the library. Nothing is installed. Usage:
#
#     sh fetch.sh VERSION CACHE
set -eu
version=$1
cache=$2
# Since 4.0 the library is in a package of its own. Before 2.3.1 there is none for
# Python 3.11; the library in it does not depend on Python.
package=mujoco
python=3.11
case $version in
2.2.* | 2.3.0) python=3.10 ;;
2.* | 3.*) ;;
*) package=mujoco-core ;;
esac
if [ ! -d "$cache/$version" ]; then
  new=$(mktemp -d "${TMPDIR:-/tmp}/mujoco.XXXXXX")
  trap 'rm -rf "$new"' EXIT
  pip="python3 -m pip"
  if ! $pip --version >/dev/null 2>&1; then # Debian's Python brings it with venv
    python3 -m venv "$new/venv"
    pip="$new/venv/bin/pip"
  fi
  $pip download -q --disable-pip-version-check --no-deps --only-binary :all: --python-version "$python" -d "$new/wheels" "$package==$version" >&2
  mkdir -p "$cache"
  python3 -m zipfile -e "$new"/wheels/*.whl "$new/wheel"
  mv "$new/wheel" "$cache/$version"
fi
ls "$cache/$version"/mujoco/libmujoco.*
