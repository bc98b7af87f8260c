// Findings about who takes the cores besides the loader.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/findings/facts.h"
#include "analysis/wording.h"

namespace loaderscope {
namespace {

constexpr double kMuch = 0.1;       // of the CPU time that was spent
constexpr double kMuchOfOwn = 0.2;  // of this program's, by threads that are no part of the loader
const Changes kMachineAlone = {{std::string(kOtherThreads), "0"}};

double part(double some, double all) { return all > 0 ? some / all : 0; }

double cpu_of_stages(const Facts& facts) {
  Nanos sum = 0;
  for (const StageStats& stage : facts.stages) sum += stage.cpu;
  return seconds(sum);
}

}  // namespace

std::optional<Candidate> other_programs(const Facts& facts) {
  const double others = facts.metric("host.other_cpu_s");
  const double own = facts.metric("process.cpu_s");
  if (facts.share(Cause::contention) < kWorthSaying || part(others, others + own) < kMuch)
    return std::nullopt;
  const double window = seconds(facts.analysis.account.window);
  return Candidate{
      fmt::format("other programs took {:.2g} of {:.3g} cores, this one {:.2g}; its threads wait "
                  "for a core {} of the time",
                  part(others, window), facts.config.cores.value, part(own, window),
                  show_percent(facts.share(Cause::contention))),
      {kMachineAlone},
      "nothing in the loader: end the other programs, or give the job cores of its own (taskset, "
      "the cpuset of its container)"};
}

std::optional<Candidate> nested_thread_pools(const Facts& facts) {
  const double threads = facts.metric("process.threads");
  const double extra = threads - facts.metric("process.loader_threads");
  const bool counted = facts.metric("process.loader_threads") > 0;
  if (!counted || facts.share(Cause::contention) < kWorthSaying) return std::nullopt;
  const double own = facts.metric("process.cpu_s");
  const double elsewhere = part(own - cpu_of_stages(facts), own);
  if (extra < static_cast<double>(std::max<std::int64_t>(2, facts.threads())) ||
      elsewhere < kMuchOfOwn)
    return std::nullopt;
  return Candidate{
      fmt::format("{:.0f} of {:.0f} threads are not the loader's and take {} of its CPU time; "
                  "threads wait for a core {} of the time",
                  extra, threads, show_percent(elsewhere),
                  show_percent(facts.share(Cause::contention))),
      {kMachineAlone},
      "in every worker: torch.set_num_threads(1), cv2.setNumThreads(0); OMP_NUM_THREADS=1"};
}

}  // namespace loaderscope
