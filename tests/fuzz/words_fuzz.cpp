// Values that users type after --vary, --set and --require. The first byte chooses the flag. Each
// value is accepted, or gives an error of one line.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "experiment/axes.h"
#include "loaderscope/errors.h"
#include "loaderscope/experiment.h"
#include "loaderscope/report.h"
#include "loaderscope/settings.h"

namespace {

void read(unsigned what, const std::string& text) {
  using namespace loaderscope;
  if (what == 0) {
    static_cast<void>(parse_axes({text}));
  } else if (what == 1) {
    const Change change = parse_change(text);
    RunConfig config;
    static_cast<void>(with_changes(config, {change}));
  } else {
    check_requirement_syntax(text);
  }
}

void demand_one_line(const char* message) {
  if (std::string(message).find('\n') != std::string::npos) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 4096) return 0;
  try {
    read(data[0] % 3U, {reinterpret_cast<const char*>(data) + 1, size - 1});
  } catch (const loaderscope::UsageError& error) {
    demand_one_line(error.what());
  } catch (const loaderscope::ValueError& error) {
    demand_one_line(error.what());
  }
  return 0;
}
