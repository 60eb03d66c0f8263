#!/bin/sh
# Build llama.cpp from PyPI's llama-cpp-python source package, twice: for this machine, and for AVX2 only.
#
#     build_llama.sh DIR      # gives DIR/llama-native/bin/llama-bench and so on, DIR/llama-avx2/bin/...
#
# Needs python3 with pip, cmake, ninja and a C++ compiler. JOBS limits the compilers at a time.
set -eu

dir=${1:?usage: build_llama.sh DIR}
mkdir -p "$dir"
cd "$dir"

if [ ! -d llama-source ]; then
    echo "fetching llama-cpp-python's sources"
    rm -rf llama-unpacked && mkdir llama-unpacked
    # Sources of this package alone. To read its metadata pip installs its build tools too, and CMake and Ninja
    # where they aren't there; it must not compile those, which takes half an hour.
    python3 -m pip download --quiet --no-deps --no-binary llama-cpp-python --only-binary cmake,ninja \
        --dest llama-unpacked llama-cpp-python
    tar -xf llama-unpacked/llama_cpp_python-*.tar.gz -C llama-unpacked
    source=$(echo llama-unpacked/llama_cpp_python-*/vendor/llama.cpp)

    # gcc 12 believes that ldtilecfg reads 8 bytes of its 64 and drops the stores to the rest, so
    # that llama.cpp dies on every machine with AMX. Telling the compiler that memory is read helps.
    amx=$source/ggml/src/ggml-cpu/amx/mmq.cpp
    sed -i 's/^\( *\)_tile_loadconfig(&tc);/\1__asm__ volatile("" : : "r"(\&tc) : "memory");\n&/' "$amx"
    grep -q '"r"(&tc) : "memory"' "$amx" || echo "note: llama.cpp's AMX set-up has changed; left as it is" >&2

    mv "$source" llama-source
    rm -rf llama-unpacked
fi

build() {  # name, options...
    name=$1
    shift
    echo "building llama.cpp: $name"
    cmake -S llama-source -B "$name" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
        -DLLAMA_CURL=OFF -DLLAMA_OPENSSL=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_UI=OFF "$@" >"$name.log"
    cmake --build "$name" -j "${JOBS:-$(nproc)}" \
        --target llama-bench llama-batched-bench llama-perplexity llama-quantize >>"$name.log"
}

build llama-native -DGGML_NATIVE=ON
build llama-avx2 -DGGML_NATIVE=OFF -DGGML_SSE42=ON -DGGML_AVX=ON -DGGML_AVX2=ON -DGGML_FMA=ON \
    -DGGML_F16C=ON -DGGML_BMI2=ON
