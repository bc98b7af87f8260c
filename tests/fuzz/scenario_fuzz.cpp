// parse_scenario never throws anything but UsageError, whose message is one line; what it accepts
// is spelled in a way that it accepts again, and resolve() never throws anything but UsageError on
// it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "loaderscope/errors.h"
#include "loaderscope/settings.h"

namespace {

using namespace loaderscope;

void require(bool condition) {
  if (!condition) std::abort();
}

std::string spelled(const RunConfig& config) {
  std::string text;
  for (const Field& field : fields()) {
    if (!field.given(config)) continue;
    for (const std::string& value : field.texts(config))
      text += std::string(field.name) + " = " + value + "\n";
  }
  return text;
}

void check_spelling(const RunConfig& config) {
  const std::string text = spelled(config);
  RunConfig again;
  parse_scenario(text, "again", again);
  require(spelled(again) == text);
}

void check_resolve(const RunConfig& config) {
  std::vector<std::string> notes;
  try {
    resolve(config, {4}, notes);
  } catch (const UsageError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  RunConfig config;
  try {
    parse_scenario({reinterpret_cast<const char*>(data), size}, "fuzz", config);
  } catch (const UsageError& error) {
    require(std::string(error.what()).find('\n') == std::string::npos);
    return 0;
  }
  check_spelling(config);
  check_resolve(config);
  return 0;
}
