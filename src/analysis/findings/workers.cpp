// Findings about how many workers there are and how long they live.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/findings/facts.h"
#include "analysis/wording.h"

namespace loaderscope {
namespace {

constexpr std::int64_t kMostWorkers = 128;  // per rank, that anybody is advised to have

// Doublings of `workers` that the cores can feed: a worker that waits leaves its core to others.
std::vector<Changes> more_workers(const Facts& facts, std::int64_t workers) {
  const double busy = std::max(facts.cpu_share(), 1.0 / 16);
  const double most = std::floor(std::max(1.0, facts.cores_per_rank() / busy));
  const auto limit = static_cast<std::int64_t>(std::min<double>(most, kMostWorkers));
  std::vector<Changes> options;
  for (std::int64_t n = std::max<std::int64_t>(1, 2 * workers); n < limit; n *= 2)
    options.push_back({number("num-workers", n)});
  if (limit > workers) options.push_back({number("num-workers", limit)});
  return options;
}

constexpr const char* kWorkersLine = "DataLoader(..., num_workers={})";

}  // namespace

std::string start_words(const Facts& facts) {
  const StageStats& starts = facts.stages[Stage::startup];
  if (facts.config.executor != Executor::processes || starts.count == 0) return "";
  return fmt::format("; a worker takes {} to start by {}",
                     show_duration(starts.wall / starts.count),
                     name_of(facts.config.mp_context.value));
}

std::optional<Candidate> no_workers(const Facts& facts) {
  if (facts.config.num_workers > 0 || facts.making() < kWorthSaying) return std::nullopt;
  return Candidate{
      fmt::format("without workers the trainer makes every batch itself, {} of the time",
                  show_percent(facts.making())),
      more_workers(facts, 0), kWorkersLine};
}

std::optional<Candidate> too_few_workers(const Facts& facts) {
  const std::int64_t workers = facts.config.num_workers;
  if (workers == 0 || facts.share(Why::capacity) < kWorthSaying) return std::nullopt;
  return Candidate{fmt::format("{} never rest while the trainer waits {} of the time; {:.3g} cores "
                               "per rank, workers are on a CPU {} of their time",
                               plural(workers, "worker"), show_percent(facts.share(Why::capacity)),
                               facts.cores_per_rank(), show_percent(facts.cpu_share())),
                   more_workers(facts, workers), kWorkersLine};
}

std::optional<Candidate> too_many_workers(const Facts& facts) {
  const auto cores = static_cast<std::int64_t>(std::max(1.0, std::floor(facts.cores_per_rank())));
  if (facts.config.num_workers <= cores || facts.share(Cause::contention) < kWorthSaying)
    return std::nullopt;
  return Candidate{fmt::format("{} per rank share {:.3g} cores and wait for one {} of the time",
                               plural(facts.config.num_workers, "worker"), facts.cores_per_rank(),
                               show_percent(facts.share(Cause::contention))),
                   {{number("num-workers", cores)}},
                   kWorkersLine};
}

std::optional<Candidate> workers_restarted(const Facts& facts) {
  const RunConfig& config = facts.config;
  if (config.persistent_workers || config.num_workers == 0) return std::nullopt;
  if (facts.share(Why::epoch) < kWorthSaying) return std::nullopt;
  return Candidate{fmt::format("every epoch begins with new workers and an empty window: {} of the "
                               "time{}",
                               show_percent(facts.share(Why::epoch)), start_words(facts)),
                   {{{"persistent-workers", "true"}}},
                   "DataLoader(..., persistent_workers=True)"};
}

}  // namespace loaderscope
