#!/bin/sh
# What the installed program asks of a machine: glibc 2.34 with its libraries and GCC's for unwinding, 35 MB, and 20 ms to
# begin. usage: portable.sh PROGRAM
set -eu
program=$1
status=0
fail() { echo "error: $*" >&2; status=1; }

newer=$(objdump -T "$program" | grep -E 'GLIBC_2\.(3[5-9]|[4-9][0-9])|GLIBC_([3-9]|[1-9][0-9])\.' || true)
[ -z "$newer" ] || fail "it needs a newer glibc than 2.34 for
$newer"
for library in $(objdump -p "$program" | sed -n 's/^ *NEEDED *//p'); do
    case $library in
    libc.so.6 | libm.so.6 | libgcc_s.so.1 | ld-linux-*) ;;
    *) fail "it needs $library" ;;
    esac
done
size=$(wc -c <"$program")
echo "==> $((size / 1000000)) MB"
[ "$size" -le 35000000 ] || fail "it has more than 35 MB"
best=1000000
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    start=$(date +%s%N)
    "$program" --version >/dev/null
    took=$((($(date +%s%N) - start) / 1000))
    [ "$took" -ge "$best" ] || best=$took
done
echo "==> --version in $best microseconds"
[ "$best" -le 20000 ] || fail "--version takes more than 20 ms"
exit $status
