// Findings about who takes the cores besides the loader.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "analysis/contention.h"
#include "analysis/findings/finding_input.h"
#include "analysis/wording.h"
#include "record/environment_changes.h"
#include "record/family_traits.h"

namespace loaderscope {
namespace {

constexpr double kMuchCpu = 0.1;    // share of the CPU time spent
constexpr double kMuchOfOwn = 0.2;  // share of this program's CPU time outside the loader
const Changes kMachineAlone = {{std::string(kOtherThreads), "0"}};

double part(double some, double all) { return all > 0 ? some / all : 0; }

double cpu_of_stages(const FindingInput& facts) {
  Nanos sum = 0;
  for (const StageStats& stage : facts.stages) sum += stage.cpu;
  return seconds(sum);
}

// Returns the cores in use on a host, on average over the window.
double cores_in_use(const FindingInput& facts, double cpu_s) {
  const auto hosts = static_cast<double>(facts.hosts());
  return part(cpu_s, hosts * seconds(facts.analysis.account.window));
}

std::string bracketed(const std::string& text) { return text.empty() ? "" : " (" + text + ")"; }

// ", 60.0 % of it because of them"
std::string others_words(const FindingInput& facts) {
  const auto others = contention_of_others(facts.record);
  return others ? fmt::format(", {} of that because of them", format_percent(*others)) : "";
}

// Threads that make no batch, and the part of the CPU time that they take.
struct ExtraThreads {
  double extra = 0, all = 0, share = 0;
};

ExtraThreads threads_beyond_stages(const FindingInput& facts) {
  const double all = facts.metric(metric::process_threads);
  const double own = facts.metric(metric::process_cpu_s);
  return {all - facts.metric(metric::process_loader_threads), all,
          part(own - cpu_of_stages(facts), own)};
}

// Returns the same for workers that were watched from outside. One thread makes the batches,
// another sends them.
ExtraThreads threads_beyond_workers(const FindingInput& facts) {
  constexpr double kOwn = 2;
  const auto workers = static_cast<double>(facts.threads_of_host());
  const double each = facts.metric(metric::workers_threads);
  const double sending = seconds(facts.stages[Stage::transport].cpu);
  const double spent = facts.metric(metric::workers_beside_cpu_s) - sending;
  return {workers * (each - kOwn), workers * each,
          part(spent, facts.metric(metric::workers_cpu_s))};
}

// "; cv2 is set to 32, torch to 1"
std::string pool_words(const FindingInput& facts) {
  std::string text;
  for (const char* library : {"cv2", "torch"}) {
    const double threads = facts.metric(fmt::format("workers.{}_threads", library));
    if (threads < 2) continue;
    text += fmt::format("{}{} is set to {:.0f}", text.empty() ? "; " : ", ", library, threads);
  }
  return text;
}

// Returns advice that gives the same batches for less work.
std::string less_work_words(const FindingInput& facts, Stage most) {
  if (most == Stage::augment) return cheaper_augment_words(facts);
  if (facts.has_arrays()) return "store fewer bytes per sample (float16 or uint8)";
  const std::string always =
      "store the samples decoded or smaller, or keep decoded ones in memory, where they fit";
  if (most != Stage::decode || facts.named(name_of(Stage::decode)).find("PIL") == std::string::npos)
    return always;
  return "JPEGs with simplejpeg.decode_jpeg (libjpeg-turbo) in place of Pillow; or " + always;
}

Stage most_used(const FindingInput& facts) {
  Stage most = Stage::decode;
  for (const Stage stage : kMakingStages) {
    if (facts.stages[stage].cpu > facts.stages[most].cpu) most = stage;
  }
  return most;
}

}  // namespace

std::string core_words(const FindingInput& facts) {
  constexpr double kWorthNaming = 0.005;  // cores
  constexpr std::size_t kMax = 4;
  std::vector<std::pair<double, std::string_view>> used;
  for (const auto& word : Words<Stage>::table()) {
    const double cores = cores_in_use(facts, seconds(facts.stages[word.value].cpu));
    if (cores >= kWorthNaming) used.emplace_back(cores, shown_name(word.name));
  }
  std::stable_sort(used.begin(), used.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (std::size_t i = 0; i < std::min(kMax, used.size()); ++i)
    text += fmt::format("{}{} {:.2g}", i > 0 ? ", " : "", used[i].second, used[i].first);
  return text;
}

std::optional<Candidate> cores_exhausted(const FindingInput& facts) {
  constexpr double kAll = 0.9;
  constexpr double kOneMore = 0.3,
                   kIdleShare = 0.02;  // cores that are idle: a worker has room there
  constexpr double kNone = 0.1;
  const double counted = facts.metric(metric::process_cpu_s);
  const double used = cores_in_use(facts, counted > 0 ? counted : cpu_of_stages(facts));
  const double waiting = facts.making() + facts.share(Cause::contention);
  const bool are_known = facts.config.declared.cores > 0;
  if (!are_known || waiting < kMuchCpu || used < kAll * facts.config.declared.cores)
    return std::nullopt;
  const double idle = facts.idle_cores().value_or(facts.config.declared.cores - used);
  if (idle >= std::max(kOneMore, kIdleShare * facts.config.declared.cores)) return std::nullopt;
  const Stage most = most_used(facts);
  const bool may_scale = is_native_engine(facts.record.engine) && most == Stage::decode &&
                         facts.config.image.dct_scale == DctScale::off;
  const std::string shared = idle >= kNone
                                 ? ""
                                 : fmt::format(": more workers only share {}",
                                               facts.config.declared.cores == 1 ? "it" : "them");
  return Candidate{
      fmt::format("this program uses {:.2g} of {} ({}){}", used,
                  format_cores(facts.config.declared.cores), core_words(facts), shared),
      {},
      less_work_words(facts, most),
      may_scale ? Changes{{"dct-scale", "auto"}} : Changes{}};
}

std::optional<Candidate> other_programs(const FindingInput& facts) {
  const double others = facts.metric(metric::host_other_cpu_s);
  const double own = facts.metric(metric::process_cpu_s);
  if (facts.share(Cause::contention) < kMinReportedShare || !others_matter(facts.record))
    return std::nullopt;
  return Candidate{
      fmt::format("other programs took {:.2g} of {}{}, this one {:.2g}{}; its threads "
                  "wait for a core {} of the time{}",
                  cores_in_use(facts, others), format_cores(facts.config.declared.cores),
                  bracketed(facts.named(metric::host_other_cpu_s)), cores_in_use(facts, own),
                  bracketed(core_words(facts)), format_percent(facts.share(Cause::contention)),
                  others_words(facts)),
      {kMachineAlone},
      "nothing in the loader: end the other programs, or give the job cores of its own (taskset, "
      "the cpuset of its container)"};
}

std::optional<Candidate> nested_thread_pools(const FindingInput& facts) {
  const bool watched = facts.metric(metric::workers_threads) > 0;
  const bool counted = watched || facts.metric(metric::process_loader_threads) > 0;
  if (!counted || facts.share(Cause::contention) < kMinReportedShare) return std::nullopt;
  const ExtraThreads extra_threads =
      watched ? threads_beyond_workers(facts) : threads_beyond_stages(facts);
  if (extra_threads.extra <
          static_cast<double>(std::max<std::int64_t>(2, facts.threads_of_host())) ||
      extra_threads.share < kMuchOfOwn)
    return std::nullopt;
  return Candidate{
      fmt::format("{:.0f} of {:.0f} threads are not the loader's and take {} of its CPU time; "
                  "threads wait for a core {} of the time{}",
                  extra_threads.extra, extra_threads.all, format_percent(extra_threads.share),
                  format_percent(facts.share(Cause::contention)), pool_words(facts)),
      {kMachineAlone},
      "cv2.setNumThreads(0) in worker_init_fn; OMP_NUM_THREADS=1 before the start (torch's own "
      "threads DataLoader sets to 1 in its workers)"};
}

std::optional<Candidate> interpreter_lock(const FindingInput& facts) {
  const double worker = facts.metric(metric::gil_worker_wait_share);
  const double trainer = facts.metric(metric::gil_trainer_wait_share);
  if (std::max(worker, trainer) < kMuchCpu) return std::nullopt;
  const bool is_in_worker = worker >= trainer;
  return Candidate{
      fmt::format("{} wait {} of the time for another thread of their process to give Python's "
                  "lock back",
                  is_in_worker ? "workers" : "trainers",
                  format_percent(is_in_worker ? worker : trainer)),
      {},
      is_in_worker ? "no Python threads in the data set: more num_workers in their place"
                   : "no Python threads next to the training loop: num_workers for what they do"};
}

}  // namespace loaderscope
