#!/usr/bin/env bash
# Installs into a scratch folder, moves it, and builds a program against it: once through find_package(weft),
# once through pkg-config.
set -euo pipefail
build=$(dirname "$TEST_WEFT_BIN_DIR")
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/installed.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'echo "$0: line $LINENO failed: $BASH_COMMAND"' ERR

cmake --install "$build" --prefix "$scratch/first" >/dev/null
mv "$scratch/first" "$scratch/prefix" # nothing installed may depend on where it was installed
library=$(dirname "$(find "$scratch/prefix" -name libweft.so)")
[[ -n $library && -e $library/libweft.so.0 ]] || { echo "libweft.so or libweft.so.0 was not installed"; exit 1; }

cmake -S "$here/consumer" -B "$scratch/by_cmake" -G Ninja -DCMAKE_PREFIX_PATH="$scratch/prefix" >/dev/null
cmake --build "$scratch/by_cmake" >/dev/null
"$scratch/by_cmake/consumer"

export PKG_CONFIG_PATH=$library/pkgconfig
[[ $(pkg-config --modversion weft) == "$(sed -n 's/^project(weft VERSION \([0-9.]*\) .*/\1/p' "$TEST_WEFT_SOURCE_DIR/CMakeLists.txt")" ]] ||
    { echo "weft.pc has another version than the project"; exit 1; }
read -ra flags <<<"$(pkg-config --cflags --libs weft)"
c++ "$here/consumer/consumer.cc" "${flags[@]}" -o "$scratch/by_pkg_config"
LD_LIBRARY_PATH=$library "$scratch/by_pkg_config"

if [[ -e $TEST_WEFT_BIN_DIR/weft ]]; then
    "$scratch/prefix/bin/weft" --version >/dev/null || { echo "the installed weft does not start"; exit 1; }
fi
if grep -rIl "$TEST_WEFT_SOURCE_DIR" "$scratch/prefix"; then
    echo "the installed files above name the source folder"
    exit 1
fi
