#include "guest/host/worker_starts.h"

#include <algorithm>

namespace loaderscope::guest {
namespace {

constexpr std::size_t kMost = 4096;  // processes: of a job of hours the first tell enough

}  // namespace

void WorkerStarts::handed(const ProcessId& id, const HandedMessage& told) {
  if (told_.size() < kMost || told_.contains(id)) told_[id] = told;
}

std::vector<Metric> WorkerStarts::metrics() const {
  double handed = 0, bytes = 0, pickling = 0, workers = 0, imports = 0, reading = 0;
  for (const auto& [pid, told] : told_) {
    if (told.count > 0) {
      handed += static_cast<double>(told.count);
      bytes += told.bytes;
      pickling += told.spent;
    } else {
      ++workers;
      imports += told.imports;
      reading += told.spent;
    }
  }
  if (handed <= 0 || workers <= 0) return {};
  const double each = pickling / handed;
  return {{"startup.pickled_bytes", "bytes", "that a worker is handed, its data set above all",
           bytes / handed},
          {"startup.pickle_s", "s", "of the trainer's thread to pickle that, for each worker",
           each * 1e-9},
          {"startup.imports_s", "s", "of a worker until it comes to it: its process and imports",
           std::max(0.0, imports / workers - each) * 1e-9},
          {"startup.unpickle_s", "s", "of a worker to read it back", reading / workers * 1e-9}};
}

std::vector<Detail> WorkerStarts::details() const {
  std::vector<Detail> details;
  for (const auto& [pid, told] : told_) {
    for (const std::string& part : told.parts)
      details.push_back({"startup.pickled_bytes", part, 0});
    if (!details.empty()) break;  // of one trainer: the others have the same program
  }
  return details;
}

}  // namespace loaderscope::guest
