#include "guest/host/job_memory.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/thread_meter.h"
#include "machine/proc_file.h"

namespace loaderscope::guest {
namespace {

std::string proc(pid_t process) { return "/proc/" + std::to_string(process); }

double resident_bytes(pid_t process) {
  return static_cast<double>(kKibi * value_in(proc(process) + "/status", "VmRSS").value_or(0));
}

}  // namespace

void JobMemory::look(const std::vector<JobProcess>& processes, bool is_last) {
  const Nanos begin = monotonic_now();
  if (!is_last && !pace_.is_due(begin)) return;
  Bytes resident = 0, shared = 0;
  double of_trainers = 0, of_workers = 0;
  std::set<pid_t> there;
  for (const JobProcess& process : processes) {
    const auto pages = values_in(proc(process.pid) + "/smaps_rollup",
                                 {"Pss", "Pss_Shmem", "Private_Clean", "Private_Dirty"});
    resident += kKibi * pages[0].value_or(0);
    shared += kKibi * pages[1].value_or(0);
    if (!process.is_worker) {
      of_trainers += resident_bytes(process.pid);
    } else if (pages[2] && pages[3]) {  // one that is ending has no memory any more
      of_workers += static_cast<double>(kKibi * (*pages[2] + *pages[3]));
      there.insert(process.pid);
    }
  }
  if (resident > 0) {  // else all have ended
    resident_ = resident;
    shared_ = shared;
  }
  note_growth(begin, of_trainers, of_workers, std::move(there));
  pace_.looked(begin);
}

void JobMemory::note_growth(Nanos at, double trainers, double workers, std::set<pid_t> there) {
  if (there.size() < there_.size()) return;  // some have just ended
  const bool none_stayed =
      std::none_of(there_.begin(), there_.end(), [&](pid_t one) { return there.contains(one); });
  restarted_ = restarted_ || (!there_.empty() && none_stayed);
  there_ = std::move(there);
  private_of_workers_ = workers;
  all_.note(at, trainers + workers);
  trainers_.note(at, trainers);
}

std::vector<Metric> JobMemory::metrics(double batches, double window_s) const {
  std::vector<Metric> metrics;
  if (!has_looked()) return metrics;
  if (!there_.empty()) {
    metrics.push_back({"memory.worker_private_bytes", "bytes",
                       "what a worker does not share, the mean at the end of the window",
                       private_of_workers_ / static_cast<double>(there_.size())});
  }
  // What a worker has grown by goes with it.
  const auto slope = (restarted_ ? trainers_ : all_).bytes_per_second();
  if (!slope) return metrics;
  metrics.push_back(
      adds_up_in_machine({"memory.growth_bytes_per_s", "bytes/s",
                          restarted_ ? "slope of the trainers' resident memory over the window"
                                     : "slope of resident memory over the window",
                          *slope}));
  if (batches > 0) {
    metrics.push_back({"memory.growth_bytes_per_batch", "bytes", "likewise per batch",
                       *slope * window_s / batches});
  }
  return metrics;
}

}  // namespace loaderscope::guest
