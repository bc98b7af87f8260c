// A saved result: whatever the bytes are, an error or a record that every report can show.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "loaderscope/errors.h"
#include "loaderscope/report.h"
#include "report/results.h"

namespace {

// Long inputs spend their time in the bootstrap and find nothing more.
constexpr std::size_t kMaxLength = 1 << 18;

std::string written(const loaderscope::SavedRun& run, std::string_view format) {
  using namespace loaderscope;
  std::ostringstream out;
  Analysis analysis = analyse(run.record);
  analysis.proof = run.proof;
  find_row(format, report_table()).write(out, make_result(run.record, analysis), ReportStyle{});
  return out.str();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace loaderscope;
  if (size > kMaxLength) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const SavedRun run = parse_result(text, "fuzz");
    for (const ReportRow& row : report_table()) {
      if (row.writes("run")) written(run, row.row.name);
    }
    const std::string json = written(run, "json");
    // A second round of reading and writing must not change the text.
    if (written(parse_result(json, "again"), "json") != json) std::abort();
  } catch (const RunError&) {
  }
  return 0;
}
