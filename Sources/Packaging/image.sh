#!/bin/sh
# Makes an OCI archive of what "make stage" made, without a daemon. usage: image.sh STAGE FILE VERSION
set -eu
stage=$1 file=$2 version=$3
here=$(dirname "$0")
command -v buildah >/dev/null || { echo "error: no buildah, which makes the image; install it" >&2; exit 1; }
context="$(dirname "$file")/image"
rm -rf "$context" "$file"
root="$context/root"
install -D -m 755 "$stage/bin/phibatch" "$root/usr/bin/phibatch"
# The loader and the libraries, where the program and the loader look for them.
ldd "$stage/bin/phibatch" | grep -o '/[^ ]*' | while read -r library; do
    install -D -m 755 "$(readlink -f "$library")" "$root$library"
done
# A user that isn't root, with a folder for work and one for drafts.
mkdir -p "$root/etc" "$root/data" "$root/tmp"
echo 'phibatch:x:65532:65532::/data:/sbin/nologin' >"$root/etc/passwd"
echo 'phibatch:x:65532:' >"$root/etc/group"
chmod 1777 "$root/tmp"
chown 65532:65532 "$root/data" 2>/dev/null || chmod 777 "$root/data"
buildah build --quiet --isolation chroot --format oci --label org.opencontainers.image.title=phibatch \
    --label org.opencontainers.image.version="$version" --label org.opencontainers.image.licenses=MIT --file "$here/Containerfile" --tag phibatch:"$version" "$context"
buildah push --quiet phibatch:"$version" "oci-archive:$file:phibatch:$version"
rm -rf "$context"
echo "$file"
