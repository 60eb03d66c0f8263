#!/bin/sh
# Fuzzes readers of foreign bytes: fuzz.sh SECONDS [TARGET...], by default all targets.
# What is new in coverage is kept in .build/fuzz/corpus, what went wrong in .build/fuzz/findings.
# fuzz.sh keep [TARGET...] puts the smallest set of inputs with the same coverage into Tests/Fuzz/corpus.
set -eu
cd "$(dirname "$0")/../.."
mkdir -p .build
seconds=$1
shift
swift=${SWIFT:-swift}
here=Tests/Fuzz
work=.build/fuzz
program=$work/build/release/phibatch-fuzz
[ $# -gt 0 ] || set -- $(ls $here/corpus)

tools=$(dirname "$(readlink -f "$(command -v "$swift")")")
library=$(ls "$tools"/../lib/clang/*/lib/linux/libclang_rt.fuzzer_no_main-"$(uname -m)".a 2>/dev/null || true)
[ -n "$library" ] || { echo "error: $swift comes without libFuzzer; use a toolchain of swift.org on Linux" >&2; exit 1; }
export PHIBATCH_FUZZ=1
echo "==> building with libFuzzer and the address sanitizer (the first time takes some minutes)"
"$swift" build -c release --sanitize=address -Xswiftc -enable-testing --scratch-path $work/build \
    --product phibatch-fuzz -Xlinker --whole-archive -Xlinker "$library" -Xlinker --no-whole-archive \
    -Xlinker -lstdc++ >$work.log 2>&1 || { grep -v "Cannot export" $work.log | tail -40 >&2; exit 1; }

# The runtime's own backtraces would keep libFuzzer from saving the input.
export SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0
for target; do
    export PHIBATCH_FUZZ_TARGET="$target"
    mkdir -p "$work/corpus/$target" "$work/findings/$target" "$here/corpus/$target"
    # Words of the corpus, and names that the module which reads it has.
    case $target in
        job | line | log | record) module=Jobs ;;
        template | tokenizer) module=PhiText ;;
        expression | schema) module=JSONSchema ;;
        *) module=PhiModel ;;
    esac
    dictionary=$work/$target.dict
    { grep -ahoE '[A-Za-z_]{2,24}|[][{}%#:,&*!<>|?-]{1,3}' "$here/corpus/$target"/*
        grep -rhoE '"[a-z_]{2,24}"' Sources/$module | tr -d '"'; } | LC_ALL=C sort -u | sed 's/.*/"&"/' >"$dictionary"
    set -- -rss_limit_mb=2048 -malloc_limit_mb=1024 -timeout=20 -max_len=16384
    if [ "$seconds" = keep ]; then
        rm -rf "$work/kept" && mkdir -p "$work/kept"
        # By what is reached, not by how often: it takes a fifth of the files. The largest aren't worth their room.
        $program -set_cover_merge=1 -use_counters=0 "$@" "$work/kept" "$here/corpus/$target" "$work/corpus/$target" 2>&1 | tail -1
        # Regressions stay, whatever they cover; they have names, not hashes.
        find "$here/corpus/$target" -type f -name '????????????????????????????????????????' -delete
        find "$work/kept" -type f -size -5 -exec cp {} "$here/corpus/$target" \;
        continue
    fi
    echo "==> $target for $seconds s"
    $program "$@" -max_total_time="$seconds" -dict="$dictionary" -print_final_stats=1 \
        -artifact_prefix="$work/findings/$target/" "$work/corpus/$target" "$here/corpus/$target" \
        >"$work/$target.log" 2>&1 || { tail -30 "$work/$target.log" >&2; exit 1; }
    grep -E "^stat::number_of_executed|^#.*DONE" "$work/$target.log"
done
