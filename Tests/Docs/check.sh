#!/bin/sh
# Builds the DocC pages of both library products into .build/docs and fails if a link in them leads nowhere.
# Run by `make docs`, after `make build`.
set -e
cd "$(dirname "$0")/../.."
: "${SWIFT:=swift}"
build=$($SWIFT build -c release --show-bin-path)
target=$($SWIFT -print-target-info | sed -n 's/.*"unversionedTriple" *: *"\(.*\)".*/\1/p')
maps=$(find "$build/CPhiKernels.build" Sources/C* -name module.modulemap | sed 's/^/-Xcc -fmodule-map-file=/')
for module in PhiModel BatchPipeline; do
    graphs=.build/docs/$module.symbols
    rm -rf "$graphs"
    mkdir -p "$graphs"
    # shellcheck disable=SC2086
    $SWIFT symbolgraph-extract -module-name $module -I "$build/Modules" $maps -target "$target" \
        -minimum-access-level public -skip-inherited-docs -output-dir "$graphs" \
        -experimental-allowed-reexported-modules=PhiText,OperatingSystem,Errors,Jobs,BatchEngine
    "${DOCC:-docc}" convert Sources/$module/$module.docc --additional-symbol-graph-dir "$graphs" \
        --fallback-display-name $module --fallback-bundle-identifier $module --warnings-as-errors \
        --output-path .build/docs/$module.doccarchive
done
