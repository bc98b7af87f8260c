// Findings about the machine that the job runs on.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "analysis/contention.h"
#include "analysis/findings/finding_input.h"
#include "analysis/wording.h"

namespace loaderscope {
namespace {

constexpr double kThrottled = 0.01;       // share of the window
constexpr double kNearLimit = 0.9;        // share of the memory
constexpr double kNearFiles = 0.8;        // share of the open files that a process may have
constexpr double kLongEnough = 30;        // s of a window, to separate growth from the start
constexpr double kGrown = 64 << 20;       // bytes in the window; what measuring keeps is less
constexpr double kFarAway = 30 * 86'400;  // s

double throttled(const FindingInput& facts) {
  const double window = seconds(facts.analysis.account.window);
  return window > 0 ? facts.metric(metric::host_throttled_s) / window : 0;
}

// Declared cores are those of the machine, but a part of one is what only a quota leaves.
bool has_quota(const FindingInput& facts) {
  const Setting<double>& cores = facts.config.declared.cores;
  if (cores.given) return cores != std::floor(cores);
  return cores < static_cast<double>(facts.record.machine.logical_cpus);
}

// Returns the cores needed for one per thread, or twice the present number if that is larger.
double cores_wanted(const FindingInput& facts) {
  return std::max(static_cast<double>(facts.threads_of_host()),
                  std::ceil(facts.config.declared.cores * 2));
}

double cores_without_quota(const FindingInput& facts) {
  if (facts.config.declared.cores.given) return cores_wanted(facts);
  return static_cast<double>(facts.record.machine.logical_cpus);
}

std::string cores_words(const FindingInput& facts) {
  const std::string left = fmt::format("{:.3g}", facts.config.declared.cores.value);
  if (facts.config.declared.cores.given)
    return "a CPU quota leaves " + format_cores(facts.config.declared.cores);
  return fmt::format("affinity and CPU quota leave {} of {}", left,
                     plural(facts.record.machine.logical_cpus, "core"));
}

// "; cores in use: decode 0.62, launch 0.25"
std::string used_words(const FindingInput& facts) {
  const std::string used = core_words(facts);
  return used.empty() ? "" : "; cores in use: " + used;
}

std::string cores_text(double cores) { return real_to_text(std::max(cores, 0.001)); }

}  // namespace

std::optional<Candidate> cpu_quota(const FindingInput& facts) {
  const bool waits = facts.share(Cause::contention) >= kMinReportedShare;
  if (!has_quota(facts) || !(waits || throttled(facts) >= kThrottled)) return std::nullopt;
  std::string evidence = fmt::format(
      "{}{}; threads wait for one {} of the time{}", cores_words(facts),
      facts.threads_of_host() > 0 ? " for " + plural(facts.threads_of_host(), "worker") : "",
      format_percent(facts.share(Cause::contention)), used_words(facts));
  if (throttled(facts) > 0)
    evidence += fmt::format(", the quota stopped them {}", format_percent(throttled(facts)));
  return Candidate{std::move(evidence),
                   {{{"cores", cores_text(cores_without_quota(facts))}}},
                   "give the job {} cores: docker run --cpus, taskset, the CPU limit of the pod"};
}

namespace {

// Returns advice for the threads that take the cores. Fewer workers are another finding: they
// share the same work, and only the model shows whether they gain.
std::string more_cores_words(const FindingInput& facts) {
  if (others_matter(facts.record))
    return "fewer other jobs on this machine, or a machine with more cores";
  if (computing_threads(facts.record) > 1)
    return "fewer threads of the training (torch.set_num_threads), or a machine with more cores";
  return "a machine with {} cores";
}

}  // namespace

std::optional<Candidate> cpu_oversubscribed(const FindingInput& facts) {
  if (facts.share(Cause::contention) < kMinReportedShare || has_quota(facts)) return std::nullopt;
  return Candidate{fmt::format("threads that want to run wait for {} {} of the time{}",
                               facts.config.declared.cores == 1
                                   ? "the one core"
                                   : "one of " + format_cores(facts.config.declared.cores),
                               format_percent(facts.share(Cause::contention)), used_words(facts)),
                   {{{"cores", cores_text(cores_wanted(facts))}}},
                   more_cores_words(facts)};
}

std::optional<Candidate> memory_grows(const FindingInput& facts) {
  const double growth = facts.metric(metric::memory_growth_bytes_per_s);
  const double window = seconds(facts.analysis.account.window);
  if (window < kLongEnough || growth * window < kGrown) return std::nullopt;
  const double workers = static_cast<double>(std::max<std::int64_t>(1, facts.threads_of_host()));
  std::string evidence = fmt::format("resident memory grows {} per minute, {} of it per worker",
                                     format_size(60 * growth), format_size(60 * growth / workers));
  const double own = facts.metric(metric::memory_worker_private_bytes);
  if (own > 0) evidence += fmt::format(", which has {} of its own", format_size(own));
  if (const double copied = facts.metric(metric::memory_copied_bytes); copied > 0) {
    evidence += fmt::format("; of it {} are copies of what the trainer's data set has: {}",
                            format_size(copied), facts.named(metric::memory_copied_bytes));
  }
  const auto all = static_cast<double>(facts.record.machine.memory_bytes);
  const double left = all - facts.metric(metric::memory_resident_bytes);
  if (all > 0 && left / growth < kFarAway) {
    evidence += fmt::format("; the limit of {} is reached in about {}", format_size(all),
                            format_duration(std::llround(1e9 * std::max(0.0, left / growth))));
  }
  return Candidate{evidence,
                   {},
                   "keep arrays, not lists of Python objects, in the data set: their reference "
                   "counts copy the pages of every worker. Names and labels as a numpy array "
                   "(dtype \"S\" or numbers), a torch tensor or a column of pyarrow; what is "
                   "written to, in shared memory (tensor.share_memory_())"};
}

namespace {

// Returns changes to the smallest number of waiting batches.
std::vector<Changes> shallower(const FindingInput& facts) {
  const bool has_depth =
      facts.config.loader.num_workers > 0 && facts.config.loader.task == TaskShape::batch;
  if (!has_depth || facts.config.loader.prefetch_factor <= 1) return {};
  return {{number("prefetch-factor", 1)}};
}

std::string with_depth(const FindingInput& facts, const std::string& otherwise) {
  return (shallower(facts).empty() ? ""
                                   : loader_words(facts.record, {"prefetch_factor={}"}) + ", or ") +
         otherwise;
}

}  // namespace

std::optional<Candidate> memory_limit_near(const FindingInput& facts) {
  const double shm = facts.metric(metric::memory_shm_limit_bytes);
  const double shm_used = facts.metric(metric::memory_shm_peak_bytes);
  if (shm > 0 && shm_used >= kNearLimit * shm) {
    return Candidate{fmt::format("{} of the {} of /dev/shm were in use", format_size(shm_used),
                                 format_size(shm)),
                     shallower(facts), with_depth(facts, "docker run --shm-size with more")};
  }
  const auto all = static_cast<double>(facts.record.machine.memory_bytes);
  const double used = facts.metric(metric::memory_resident_bytes);
  if (all <= 0 || used < kNearLimit * all) return std::nullopt;
  return Candidate{
      fmt::format("{} of {} of memory are in use", format_size(used), format_size(all)),
      shallower(facts), with_depth(facts, "fewer workers")};
}

std::optional<Candidate> open_files_near_limit(const FindingInput& facts) {
  const double open = facts.metric(metric::files_open), limit = facts.metric(metric::files_limit);
  if (limit <= 0 || open < kNearFiles * limit) return std::nullopt;
  return Candidate{
      fmt::format("a process has {:.0f} of the {:.0f} files open that it may have", open, limit),
      {},
      "torch.multiprocessing.set_sharing_strategy(\"file_system\"), which keeps no file open for "
      "each tensor in flight; or ulimit -n with more"};
}

}  // namespace loaderscope
