// A saved result that the model is fitted to: whatever the bytes are, an error, or findings that
// every report can show.
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string_view>

#include "loaderscope/errors.h"
#include "loaderscope/predict.h"
#include "loaderscope/report.h"
#include "report/results.h"

namespace {

constexpr std::size_t kMaxLength = 1 << 16;  // longer ones take their time in the model

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace loaderscope;
  if (size > kMaxLength) return 0;
  try {
    const RunRecord record =
        parse_result({reinterpret_cast<const char*>(data), size}, "fuzz").record;
    Analysis analysis = analyse(record);
    add_findings(analysis, record);
    for (const ReportRow& row : report_table()) {
      std::ostringstream out;
      if (row.writes("run")) row.write(out, make_result(record, analysis), ReportStyle{});
    }
  } catch (const RunError&) {
  } catch (const UsageError&) {
  }
  return 0;
}
