// The manifest of a made data set: an error that is one line, or what state the set is in.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "dataset/manifest.h"
#include "loaderscope/errors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace loaderscope;
  std::istringstream manifest(std::string(reinterpret_cast<const char*>(data), size));
  dataset::MakeOptions options;  // the defaults, with which the corpus was made
  options.path = "fuzz";
  try {
    static_cast<void>(dataset::state_of_manifest(manifest, dataset::made_folder(options)));
  } catch (const RunError& error) {
    if (std::string(error.what()).find('\n') != std::string::npos) std::abort();
  }
  return 0;
}
