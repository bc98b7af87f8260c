// What the processes of a measured job say: lines of JSON, of a trainer, and behind a 'w' of a
// worker of its. Whatever they are, they are understood or noted, and all that is kept of them can
// be said.
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
    const bool of_worker = line.starts_with('w');
    messages.hear(of_worker ? worker : trainer, of_worker ? line.substr(1) : line);
  }
  check_kept(messages);
  return 0;
}
