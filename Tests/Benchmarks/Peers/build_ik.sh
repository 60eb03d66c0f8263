#!/bin/sh
# Build ik_llama.cpp, llama.cpp's fastest fork on processors, for this machine.
#
#     build_ik.sh DIR      # gives DIR/ik-native/bin/llama-batched-bench
#
# Needs git, cmake, ninja and a C++ compiler. IK_LLAMA is where its repository is, JOBS limits the compilers at a time.
set -eu

dir=${1:?usage: build_ik.sh DIR}
mkdir -p "$dir"
cd "$dir"

if [ ! -d ik-source ]; then
    echo "fetching ik_llama.cpp"
    rm -rf ik-unpacked
    git clone --quiet --no-checkout --depth 1 "${IK_LLAMA:-https://github.com/ikawrakow/ik_llama.cpp}" ik-unpacked
    # What the benchmark is made of.
    git -C ik-unpacked checkout HEAD -- CMakeLists.txt cmake common examples ggml include pocs src vendor \
        ':!examples/server'
    mv ik-unpacked ik-source
fi

echo "building ik_llama.cpp"
cmake -S ik-source -B ik-native -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF -DGGML_NATIVE=ON \
    -DCMAKE_C_FLAGS=-w -DCMAKE_CXX_FLAGS=-w -DGGML_IQK_FA_ALL_QUANTS=OFF -DLLAMA_CURL=OFF \
    -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_SERVER=OFF >ik-native.log
cmake --build ik-native -j "${JOBS:-$(nproc)}" --target llama-batched-bench >>ik-native.log
