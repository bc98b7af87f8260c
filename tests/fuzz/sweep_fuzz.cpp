// A saved sweep to resume: whatever the bytes are, an error, or runs that can be judged, shown and
// saved.
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

#include "experiment/axes.h"
#include "loaderscope/errors.h"
#include "loaderscope/settings.h"
#include "report/kinds.h"
#include "report/results.h"
#include "report/schemas.h"
#include "report/writers.h"

namespace {

using namespace loaderscope;

constexpr std::size_t kMaxLength = 1 << 16;

// The experiment whose saved sweeps are in the corpus.
Experiment planned() {
  RunConfig base;
  parse_scenario("engine = model\ncost = decode=8ms\ncompute = 12ms\nbatch = 4\ncores = 8", "fuzz",
                 base);
  return plan_experiment(base, parse_axes({"workers=1,2", "prefetch=1,2"}), false, {8});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > kMaxLength) return 0;
  std::istringstream given(std::string(reinterpret_cast<const char*>(data), size));
  Experiment experiment = planned();
  try {
    resume_sweep(given, "fuzz", experiment);
  } catch (const RunError&) {
    return 0;
  } catch (const UsageError&) {
    return 0;
  }
  std::ostringstream table, page, json;
  write_table(table, make_result(experiment, ""), ReportStyle{});
  write_page(page, make_result(experiment, ""));
  write_json(json, make_result(experiment, "1.0"));
  Experiment again = planned();
  std::istringstream saved(json.str());
  resume_sweep(saved, "again", again);  // throws where what was accepted is not what was saved
  return 0;
}
