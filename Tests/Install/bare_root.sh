#!/bin/sh
# Runs the installed program in a root that has nothing but Debian's smallest system: no Swift, no libcurl, no CA
# certificates.
# usage: bare_root.sh STAGE MODEL [PACKAGE], from the top of the project; SUITE and MIRROR say which Debian. With a
# Debian package it is that which is installed.
set -eu
[ "$(id -u)" = 0 ] || { echo "error: only root can change its root" >&2; exit 1; }
command -v debootstrap >/dev/null || { echo "error: no debootstrap; apt-get install debootstrap" >&2; exit 1; }
root="$PWD/.build/bare-root"
if [ ! -f "$root.made" ]; then
    rm -rf "$root"
    debootstrap --variant=minbase "${SUITE:-bookworm}" "$root" ${MIRROR:-} >"$root.log"
    touch "$root.made"
fi
rm -rf "$root/srv"
mkdir -p "$root/srv/models"
cp -R jobs samples "$root/srv"
cp -R "$2" "$root/srv/models/smollm2-demo"
if [ -n "${3:-}" ]; then
    cp "$3" "$root/srv/phibatch.deb"
    chroot "$root" dpkg --install /srv/phibatch.deb
else
    make -s install BUILT=yes DESTDIR="$root" PREFIX=/usr
fi
ldd "$1/bin/phibatch"

# In namespaces of its own, so that /proc goes with the last process.
inside() { unshare --mount --pid --fork --mount-proc="$root/proc" env -i PATH=/usr/sbin:/usr/bin HOME=/srv "$@"; }
status=0
expect() {
    wanted=$1
    shift
    echo "==> $* (expected to end with $wanted)"
    code=0
    inside chroot "$root" sh -c "cd /srv && $*" || code=$?
    [ "$code" = "$wanted" ] || { echo "error: it ended with $code" >&2; status=1; }
}
expect 0 "phibatch --version"
expect 0 "phibatch doctor"
expect 0 "phibatch run jobs/demo.yaml"
expect 0 "phibatch verify jobs/demo.yaml --file-only"
expect 0 "phibatch verify jobs/demo.yaml --sample 3"
expect 0 "phibatch help job"
expect 69 "phibatch pull phi-4-mini 2>&1 | tee said; grep -q libcurl4 said && exit 69"
echo "==> the same without /proc"
chroot "$root" /usr/bin/phibatch --version || [ $? = 69 ] || status=1
if [ -n "${3:-}" ]; then
    chroot "$root" dpkg --purge phibatch
    [ ! -e "$root/usr/bin/phibatch" ] || { echo "error: the package leaves the program behind" >&2; status=1; }
else
    make -s uninstall DESTDIR="$root" PREFIX=/usr
fi
exit $status
