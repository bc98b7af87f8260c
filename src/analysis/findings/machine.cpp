// Findings about the machine that the job runs on.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/findings/facts.h"
#include "analysis/wording.h"

namespace loaderscope {
namespace {

constexpr double kThrottled = 0.01;  // of the window
constexpr double kNearLimit = 0.9;   // of the memory

double throttled(const Facts& facts) {
  const double window = seconds(facts.analysis.account.window);
  return window > 0 ? facts.metric("host.throttled_s") / window : 0;
}

bool has_quota(const Facts& facts) {
  return facts.config.cores < static_cast<double>(facts.record.machine.logical_cpus) &&
         !facts.config.cores.given;
}

std::string cores_text(double cores) { return spell_real(std::max(cores, 0.001)); }

}  // namespace

std::optional<Candidate> cpu_quota(const Facts& facts) {
  const bool waits = facts.share(Cause::contention) >= kWorthSaying;
  if (!has_quota(facts) || !(waits || throttled(facts) >= kThrottled)) return std::nullopt;
  const auto all = static_cast<double>(facts.record.machine.logical_cpus);
  return Candidate{
      fmt::format("affinity and CPU quota leave {:.3g} of {:.3g} cores; threads wait for one {} of "
                  "the time, the quota stopped them {}",
                  facts.config.cores.value, all, show_percent(facts.share(Cause::contention)),
                  show_percent(throttled(facts))),
      {{{"cores", cores_text(all)}}},
      "give the job more cores: docker run --cpus, taskset, the CPU limit of the pod"};
}

std::optional<Candidate> cpu_oversubscribed(const Facts& facts) {
  if (facts.share(Cause::contention) < kWorthSaying || has_quota(facts)) return std::nullopt;
  const double needed = std::max(static_cast<double>(facts.threads()), facts.config.cores * 2);
  return Candidate{
      fmt::format("threads that want to run wait for one of {:.3g} cores {} of the "
                  "time",
                  facts.config.cores.value, show_percent(facts.share(Cause::contention))),
      {{{"cores", cores_text(needed)}}},
      "fewer ranks or other jobs on this machine; torch.set_num_threads(1) in the "
      "workers"};
}

std::optional<Candidate> memory_limit_near(const Facts& facts) {
  const auto all = static_cast<double>(facts.record.machine.memory_bytes);
  const double used = facts.metric("memory.resident_bytes");
  if (all <= 0 || used < kNearLimit * all) return std::nullopt;
  return Candidate{fmt::format("{} of {} of memory are in use", show_size(used), show_size(all)),
                   {{number("prefetch-factor", 1)}},
                   "DataLoader(..., prefetch_factor={}), or fewer workers"};
}

}  // namespace loaderscope
