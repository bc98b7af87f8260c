// A manifest of samples, CSV or JSON lines by the first byte: an error that is one line, or an
// index of which every sample has a name.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "loaderscope/errors.h"
#include "source/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace loaderscope;
  if (size == 0) return 0;
  const std::string name = (data[0] & 1U) != 0 ? "fuzz.csv" : "fuzz.jsonl";
  std::istringstream manifest(std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
  try {
    const source::Index index = source::index_manifest(manifest, name, "fuzz", {});
    std::string file;
    for (std::int64_t i = 0; i < index.samples(); ++i) {
      index.folder(index.file(i, file));
      index.label(i);
      if (file.empty()) std::abort();
    }
  } catch (const RunError& error) {
    if (std::string(error.what()).find('\n') != std::string::npos) std::abort();
  }
  return 0;
}
