#!/bin/sh
# Makes a Debian package of what "make stage" made. usage: deb.sh STAGE FILE VERSION
set -eu
stage=$1 file=$2 version=$3
here=$(dirname "$0")
root="$(dirname "$file")/deb"
command -v dpkg-deb >/dev/null || { echo "error: no dpkg-deb; a Debian package is made on Debian or its kin" >&2; exit 1; }
rm -rf "$root"
put() { install -D -m "$1" "$2" "$root/$3"; }
squeeze() { mkdir -p "$(dirname "$root/$2")" && gzip -9n <"$1" >"$root/$2" && chmod 644 "$root/$2"; }

put 755 "$stage/bin/phibatch" usr/bin/phibatch
# Bash reads it and does not run it, so that it needs no first line of its own.
sed '1{/^#!/d}' "$stage/share/bash-completion/completions/phibatch" >"$root.completion"
put 644 "$root.completion" usr/share/bash-completion/completions/phibatch
put 644 "$stage/share/zsh/site-functions/_phibatch" usr/share/zsh/vendor-completions/_phibatch
put 644 "$stage/share/fish/vendor_completions.d/phibatch.fish" usr/share/fish/vendor_completions.d/phibatch.fish
{
    cat "$here/copyright"
    for each in $(sed -n 's|.*url: "https://.*/\(.*\)",.*|\1|p' Package.swift); do
        printf '\n%s\n' "$each"
        # Apache's text is on every Debian system.
        if grep -q 'Apache License' .build/checkouts/"$each"/LICENSE*; then
            echo "License: Apache License 2.0, in /usr/share/common-licenses/Apache-2.0"
        else
            sed 's/^/ /' .build/checkouts/"$each"/LICENSE*
        fi
    done
} >"$root.copyright"
put 644 "$root.copyright" usr/share/doc/phibatch/copyright
put 644 "$here/lintian-overrides" usr/share/lintian/overrides/phibatch
for each in jobs/* samples/*; do put 644 "$each" "usr/share/doc/phibatch/examples/$each"; done
# A day of the version, not of the build, so that one build makes the same package twice.
day=$(sed -n 's/^ *static let released = "\(.*\)"$/\1/p' Sources/phibatch/Phibatch.swift)
maintainer="phibatch maintainers <maintainers@phibatch.invalid>"
sed -e "s|VERSION|$version|" -e "s|DATE|$(LC_ALL=C date -u -R -d "$day")|" -e "s|MAINTAINER|$maintainer|" \
    "$here/changelog" >"$root/changelog"
squeeze "$root/changelog" usr/share/doc/phibatch/changelog.gz
rm "$root/changelog"

# What the program asks for by name, in the packages' terms; glibc's version is that of the newest symbol.
needed=$(objdump -p "$root/usr/bin/phibatch" | sed -n 's/^ *NEEDED *//p')
glibc=$(objdump -T "$root/usr/bin/phibatch" | grep -o 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' | sort -uV | tail -1)
depends="libc6 (>= $glibc)"
for library in $needed; do
    case $library in
        libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | ld-linux*) ;;
        libgcc_s.so.1) depends="$depends, libgcc-s1" ;;
        libz.so.1) depends="$depends, zlib1g" ;;
        libstdc++.so.6) depends="$depends, libstdc++6" ;;
        *) echo "error: no package is known for $library" >&2; exit 1 ;;
    esac
done
mkdir -p "$root/DEBIAN"
(cd "$root" && find usr -type f | sort | xargs md5sum) >"$root/DEBIAN/md5sums"
cat >"$root/DEBIAN/control" <<CONTROL
Package: phibatch
Version: $version
Architecture: $(dpkg --print-architecture)
Maintainer: $maintainer
Section: science
Priority: optional
Installed-Size: $(du -k -s --apparent-size "$root/usr" | cut -f1)
Depends: $depends
Recommends: ca-certificates, libcurl4 | libcurl4t64 | libcurl3-gnutls | libcurl3t64-gnutls, libmicrohttpd12 | libmicrohttpd12t64
Description: batch runner for Microsoft's Phi language models
 phibatch runs a file of prompts through a quantized Phi model on the
 processors of one machine, and writes a file of results. Many prompts
 advance together in one forward pass. Whatever stops a run, the same
 command goes on with it, and the results are the same bytes.
CONTROL
# By time and owner alone a package would differ from one build to the next.
find "$root" -newermt "$day" -exec touch -h -d "$day" {} +
find "$root" -type d -exec chmod 755 {} +
SOURCE_DATE_EPOCH=$(date -u -d "$day" +%s) dpkg-deb --root-owner-group --build "$root" "$file" >/dev/null
echo "$file"
