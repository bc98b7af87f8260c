#!/bin/bash -eu
# Builds every fuzzer of tests/fuzz into $OUT with its seeds: OSS-Fuzz calls it, with CXX, OUT, SANITIZER and WORK set. By hand,
# FUZZERS="words sweep" builds only these.
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")"
if [[ -n ${SRC-} ]]; then cd "$SRC/loaderscope"; else cd "$(git rev-parse --show-toplevel)"; fi

# The flags of OSS-Fuzz also reach the library that goes into measured programs, which no sanitizer may touch. So the build
# sets its own, for the same sanitizer. The C++ library is the system's, as its libraries are.
case $SANITIZER in
  address | undefined) sanitize=$SANITIZER,fuzzer-no-link flags= ;;
  coverage) sanitize=fuzzer-no-link flags=${COVERAGE_FLAGS-} ;;
  *) echo "build.sh: no build for the sanitizer $SANITIZER" >&2; exit 1 ;;
esac
unset CFLAGS CXXFLAGS

# Fuzzers run where no package is installed: libraries are linked statically.
libraries=$(env -u CC -u CXX scripts/packaging/static-libraries)
cmake -G Ninja -S . -B "$WORK/build" -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_CXX_FLAGS="$flags" -DCMAKE_BUILD_TYPE=Debug \
  -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1 -D_GLIBCXX_ASSERTIONS" -DLOADERSCOPE_FUZZ=ON -DLOADERSCOPE_SANITIZE="$sanitize" \
  -DLOADERSCOPE_PORTABLE=ON -DLOADERSCOPE_STATIC_LIBRARIES="$libraries" -DLOADERSCOPE_WITHOUT=FFMPEG \
  -DLOADERSCOPE_BUILD_TESTS=OFF -DLOADERSCOPE_BUILD_BENCH=OFF -DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON \
  -DLOADERSCOPE_FUZZING_ENGINE="${LIB_FUZZING_ENGINE:--fsanitize=fuzzer}" \
  -DCMAKE_EXE_LINKER_FLAGS="-static-libstdc++ -static-libgcc"
if [[ -z ${FUZZERS-} ]]; then
  # libcurl has no static form here, and its library that is loaded brings thirty others.
  FUZZERS=$(find tests/fuzz -maxdepth 1 -name '*_fuzz.cpp' ! -name answers_fuzz.cpp -printf '%f\n' | sed 's/_fuzz\.cpp$//' | sort)
fi
read -ra names <<<"${FUZZERS//$'\n'/ }"
cmake --build "$WORK/build" --target "${names[@]/#/fuzz_}"  # fails if a program is missing
for name in "${names[@]}"; do
  cp "$WORK/build/fuzz_$name" "$OUT/"
  (cd "tests/fuzz/corpus/$name" && zip -q -r -FS "$OUT/fuzz_${name}_seed_corpus.zip" .)
done
