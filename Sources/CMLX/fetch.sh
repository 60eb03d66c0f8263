#!/bin/sh
# Fetches MLX's library and headers from its Python package and compiles phi_mlx.cpp against them.
#   fetch.sh FOLDER [PACKAGE]
# FOLDER then has all that the program loads. PACKAGE: mlx-metal on a Mac, mlx-cpu elsewhere; mlx-cuda-12, mlx-cuda-13.
# Tried: mlx-cpu with g++ 12 on Linux, x86-64. Not tried: the others.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
target=$1
version=$(sed -n 's/^#define PHI_MLX_VERSION "\(.*\)"$/\1/p' "$here/phi_mlx.h")
case $(uname -s) in
Darwin) package=${2:-mlx-metal} suffix=dylib origin=@loader_path ;;
*) package=${2:-mlx-cpu} suffix=so origin="\$ORIGIN" ;;
esac

rm -rf "$target.new"
mkdir -p "$target.new"
trap 'rm -rf "$target.new"' EXIT
echo "==> fetching $package $version"
"${PYTHON:-python3}" -I -m pip install -q --disable-pip-version-check --root-user-action ignore --no-compile --only-binary :all: --target "$target.new" "$package==$version"
library=$target.new/libphibatch-mlx.$suffix
echo "==> compiling $(basename "$library")"
"${CXX:-c++}" -std=c++20 -O2 -fPIC -shared -fvisibility=hidden -Wall -Werror -isystem "$target.new/mlx/include" \
    "$here/phi_mlx.cpp" -L "$target.new/mlx/lib" -lmlx -Wl,-rpath,"$origin/mlx/lib" -o "$library"
rm -rf "$target"
mv "$target.new" "$target"
echo "==> \"engine: mlx\" now works: $target"
