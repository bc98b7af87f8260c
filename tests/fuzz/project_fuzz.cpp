// parse_project never throws anything but UsageError, whose message is one line. Each line that it
// returns has a place and a key, and its value has no zero byte.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "loaderscope/errors.h"
#include "settings/project.h"

namespace {

using namespace loaderscope;

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const bool is_pyproject : {false, true}) {
    try {
      const auto lines = parse_project(text, "fuzz", is_pyproject);
      require(is_pyproject || lines.has_value());
      if (!lines) continue;
      for (const ProjectLine& line : *lines) {
        require(line.place.starts_with("fuzz:"));
        require(line.value.find('\0') == line.value.npos);
      }
    } catch (const UsageError& error) {
      require(std::string(error.what()).find('\n') == std::string::npos);
    }
  }
  return 0;
}
