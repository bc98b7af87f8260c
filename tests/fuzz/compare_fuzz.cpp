// A saved comparison: whatever the bytes are, an error or a comparison that every report can show.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "loaderscope/errors.h"
#include "loaderscope/report.h"
#include "report/saved.h"

namespace {

using namespace loaderscope;

constexpr std::size_t kMaxLength = 1 << 16;

std::string written(const SavedResult& saved, const ReportRow& row) {
  std::ostringstream out;
  row.write(out, saved.result, ReportStyle{});
  return out.str();
}

SavedResult parsed(const std::string& text) {
  std::istringstream saved(text);
  return parse_saved(find_row("compare", result_kinds()), saved, "fuzz");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > kMaxLength) return 0;
  try {
    const auto saved = parsed(std::string(reinterpret_cast<const char*>(data), size));
    for (const ReportRow& row : report_table()) {
      if (row.writes("compare")) written(saved, row);
    }
    const ReportRow& json = find_row("json", report_table());
    const std::string text = written(saved, json);
    // A second round of reading and writing must not change the text.
    if (written(parsed(text), json) != text) std::abort();
  } catch (const RunError&) {
  }
  return 0;
}
