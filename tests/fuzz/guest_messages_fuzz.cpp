// Messages of the processes of a measured job, as lines of JSON. A line comes from the trainer, or
// from a worker if it begins with 'w'. Each line is understood or noted, and all kept values are
// finite and short enough to print.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "guest/host/messages.h"

namespace {

using namespace loaderscope;
using namespace loaderscope::guest;

void require(bool condition) {
  if (!condition) std::abort();
}

void check_kept(const Messages& messages) {
  require(messages.notes().size() <= 64);
  require(messages.failure().size() < 1000 && messages.refusal().size() < 1000);
  for (const Detail& detail : messages.counters().details())
    require(detail.text.size() < 1000 && std::isfinite(detail.share));
  for (const Metric& metric : messages.counters().metrics({1, 1}))
    require(std::isfinite(metric.value));
  messages.injected().missing(false);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const RunConfig config;
  TrainingProcesses trainers(config);
  ProcessWatch watch;
  Messages messages(config, trainers, watch);
  GuestProcess trainer(-1), worker(-1);
  trainer.pid = worker.trainer = 11;
  worker.pid = 12;
  worker.is_worker = true;
  std::istringstream lines({reinterpret_cast<const char*>(data), size});
  for (std::string line; std::getline(lines, line);) {
    const bool is_from_worker = line.starts_with('w');
    messages.receive_report(is_from_worker ? worker : trainer,
                            is_from_worker ? line.substr(1) : line);
  }
  check_kept(messages);
  return 0;
}
