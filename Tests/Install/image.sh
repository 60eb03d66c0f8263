#!/bin/sh
# Runs the image as Kubernetes would: not as root, the model mounted, results on a volume.
# usage: image.sh ARCHIVE MODEL, from the top of the project; as root, with buildah.
set -eu
archive=$1 model=$(cd "$2" && pwd)
container=$(buildah from "oci-archive:$archive")
data=$(mktemp -d)
trap 'buildah rm "$container" >/dev/null; rm -rf "$data"' EXIT
mkdir -p "$data/models/smollm2-demo"
cp -R jobs samples "$data"
chown -R 65532:65532 "$data"
inside() {
    buildah run --isolation chroot --volume "$data:/data" --volume "$model:/data/models/smollm2-demo:ro" \
        "$container" -- phibatch "$@"
}
inside --version
inside doctor
inside run --quiet jobs/demo.yaml
inside verify jobs/demo.yaml --file-only
inside verify jobs/demo.yaml --sample 3
[ -z "$(find "$data/out" ! -uid 65532)" ] || { echo "error: results belong to another user" >&2; exit 1; }
buildah mount "$container" | xargs -I{} sh -c 'cd {} && find . -type f | sort'
