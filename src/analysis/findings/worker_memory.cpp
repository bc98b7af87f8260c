#include "analysis/findings/worker_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/wording.h"
#include "record/family_traits.h"

namespace loaderscope {
namespace {

constexpr double kMaxAnswer = 1e6;  // workers; more room is no information

// Memory of one worker in bytes. 0 if unknown.
struct BytesOfWorker {
  double own = 0;          // private memory
  double batches = 0;      // finished batches that wait for the trainer
  bool is_shared = false;  // the batches are in /dev/shm
  bool is_bound = false;   // no worker was measured: `own` is the size of the trainer

  double all() const { return own + batches; }
};

double ranks_of_host(const FindingInput& facts) {
  return std::max(
      1.0, static_cast<double>(facts.config.trainer.ranks) / static_cast<double>(facts.hosts()));
}

double bytes_of_batch(const FindingInput& facts) {
  const double known = facts.metric(metric::memory_batch_bytes);
  if (known > 0) return known;
  double bytes = 0, steps = 0;
  for (const RankRecord& rank : facts.record.ranks) {
    bytes += static_cast<double>(rank.delivered_bytes);
    steps += static_cast<double>(rank.rows.size());
  }
  return steps > 0 ? bytes / steps : 0;
}

// A worker that starts by fork shares the memory of the trainer at first. It copies the pages that
// one of the two writes, so it takes no more than the trainer has.
BytesOfWorker bytes_of_worker(const FindingInput& facts, std::int64_t prefetch_factor) {
  const LoaderConfig& loader = facts.config.loader;
  const bool is_program = is_guest_engine(facts.record.engine);
  BytesOfWorker bytes;
  bytes.own = facts.metric(metric::memory_worker_private_bytes);
  if (bytes.own <= 0 && is_program && loader.num_workers == 0) {
    bytes.own = facts.metric(metric::memory_resident_bytes) / ranks_of_host(facts);
    bytes.is_bound = true;
  }
  if (bytes.own <= 0 && (is_program || is_model_engine(facts.record.engine))) return {};
  // A loader whose workers share the samples of a batch has a number of batches of its own.
  if (loader.task == TaskShape::batch)
    bytes.batches = bytes_of_batch(facts) * static_cast<double>(prefetch_factor);
  bytes.is_shared = is_program && facts.metric(metric::memory_shm_limit_bytes) > 0;
  return bytes;
}

BytesOfWorker bytes_of_worker(const FindingInput& facts) {
  return bytes_of_worker(facts, facts.config.loader.prefetch_factor);
}

std::optional<double> free_memory(const FindingInput& facts) {
  const auto free = value_of(facts.record.metrics, metric::memory_free_bytes);
  return free && *free > 0 ? free : std::nullopt;
}

std::optional<double> free_shared(const FindingInput& facts) {
  const double size = facts.metric(metric::memory_shm_limit_bytes);
  if (size <= 0) return std::nullopt;
  return std::max(0.0, size - facts.metric(metric::memory_shm_peak_bytes));
}

std::int64_t count_that_fit(double free, double each, const FindingInput& facts) {
  return static_cast<std::int64_t>(std::min(free / each / ranks_of_host(facts), kMaxAnswer));
}

// "14.0 GB of /dev/shm"
std::string size_words(double bytes, bool is_shared) {
  return format_size(bytes) + (is_shared ? " of /dev/shm" : "");
}

}  // namespace

std::optional<std::int64_t> workers_in_memory(const FindingInput& facts) {
  const BytesOfWorker worker = bytes_of_worker(facts);
  if (worker.is_bound || worker.all() <= 0) return std::nullopt;
  std::optional<std::int64_t> most;
  if (const auto free = free_memory(facts)) most = count_that_fit(*free, worker.all(), facts);
  const auto shared = free_shared(facts);
  if (worker.is_shared && worker.batches > 0 && shared) {
    const std::int64_t fit = count_that_fit(*shared, worker.batches, facts);
    most = std::min(most.value_or(fit), fit);
  }
  return most;
}

std::optional<WorkerMemory> memory_of_loader(const FindingInput& facts, const LoaderConfig& then) {
  constexpr double kMuch = 1e9, kMuchOfFree = 0.1;
  const LoaderConfig& now = facts.config.loader;
  const BytesOfWorker worker = bytes_of_worker(facts, then.prefetch_factor);
  const std::int64_t added = then.num_workers - now.num_workers;
  if (worker.all() <= 0 || added <= 0) return std::nullopt;
  const double ranks = ranks_of_host(facts);
  const double workers = ranks * static_cast<double>(then.num_workers);
  const double workers_now = ranks * static_cast<double>(now.num_workers);
  const BytesOfWorker worker_now = bytes_of_worker(facts);
  const double more_batches = workers * worker.batches - workers_now * worker_now.batches;
  WorkerMemory memory;
  memory.workers = std::llround(workers);
  memory.is_bound = worker.is_bound;
  memory.needed = workers * worker.all();
  memory.more = std::max(0.0, (workers - workers_now) * worker.own + more_batches);
  memory.free = free_memory(facts).value_or(0);
  // The tighter of the two is the one to know.
  const auto shared = free_shared(facts);
  if (worker.is_shared && shared && memory.more < kMuchOfFree * memory.free &&
      more_batches >= kMuchOfFree * *shared) {
    memory.needed = workers * worker.batches;
    memory.more = more_batches;
    memory.free = *shared;
    memory.is_shared = true;
  }
  memory.is_limit = workers_in_memory(facts) == added;
  const bool is_much =
      memory.more >= kMuch || (memory.free > 0 && memory.more >= kMuchOfFree * memory.free);
  return is_much || memory.is_limit ? std::optional(memory) : std::nullopt;
}

void add_memory(const FindingInput& facts, Finding& finding) {
  const Changes& changes = finding.changes;
  const auto change = std::find_if(changes.begin(), changes.end(),
                                   [](const Change& one) { return one.key == "num-workers"; });
  if (change == changes.end()) return;
  LoaderConfig then = facts.config.loader;
  then.num_workers.value = parse_count(change->value);
  finding.memory = memory_of_loader(facts, then);
  if (finding.memory) finding.evidence += "; " + finding.memory->sentence();
}

std::string no_room_words(const FindingInput& facts) {
  const BytesOfWorker worker = bytes_of_worker(facts);
  const double free = free_memory(facts).value_or(0);
  const bool is_shared = worker.all() * ranks_of_host(facts) <= free;
  return fmt::format("another worker needs {}, and {} are free",
                     size_words(is_shared ? worker.batches : worker.all(), is_shared),
                     format_size(is_shared ? free_shared(facts).value_or(0) : free));
}

std::string WorkerMemory::sentence() const {
  std::string text =
      fmt::format("{} {} {} {}", plural(workers, "worker"), workers == 1 ? "needs" : "need",
                  is_bound ? "at most" : "about", size_words(needed, is_shared));
  if (more < needed) text += fmt::format(", {} more than now", format_size(more));
  if (free > 0) text += fmt::format(" ({} are free)", format_size(free));
  if (is_limit) {
    text += "; more do not fit";
  } else if (!fits() && !is_bound) {
    text += "; they do not fit";
  }
  return text;
}

}  // namespace loaderscope
