// Runs a fuzz target over saved inputs without libFuzzer: fuzz_X_replay FILE_OR_FOLDER...
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> list_files(const fs::path& path) {
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The buffer is exactly as long as the input, so that the address sanitizer sees a read past its
// end.
void run_target(const std::string& input) {
  const auto bytes = std::make_unique<std::uint8_t[]>(input.size());
  std::memcpy(bytes.get(), input.data(), input.size());
  LLVMFuzzerTestOneInput(bytes.get(), input.size());
}

bool replay(const fs::path& file) {
  std::ifstream input(file, std::ios::binary);
  if (!input) {
    std::fprintf(stderr, "%s: cannot be read\n", file.c_str());
    return false;
  }
  std::fprintf(stderr, "%s\n", file.c_str());  // the last line before a crash
  run_target({std::istreambuf_iterator<char>(input), {}});
  return true;
}

}  // namespace

int main(int argc, char** argv) try {
  std::size_t count = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& file : list_files(argv[i])) {
      if (!replay(file)) return 1;
      ++count;
    }
  }
  run_target("");
  if (count == 0) {
    std::fprintf(stderr, "no input: every fuzz target needs a seed in tests/fuzz/corpus/NAME/\n");
    return 1;
  }
  std::fprintf(stderr, "replayed %zu inputs\n", count);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "an exception escaped: %s\n", error.what());
  return 1;
}
