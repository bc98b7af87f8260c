#include "experiment/tuner_parts.h"
#include "loaderscope/run_config.h"
#include "record/family_traits.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiment/settings.h"

namespace loaderscope {
namespace {

constexpr double kGrowth = 1.2;  // allowance for the growth of a worker after a short run

std::string shown(Bytes bytes) { return format_size(static_cast<double>(bytes)); }

// Declared samples are not written; a driver locks memory itself.
bool locks_memory(const RunConfig& config) {
  return is_native_engine(config.engine.value) && config.has_data() &&
         device_kind(config.trainer.device.value) != DeviceKind::gpu &&
         config.loader.memory != MemoryMode::pageable;
}

std::string beyond(const std::string& what, Bytes needed, Bytes limit, const std::string& whose) {
  if (needed <= limit) return "";
  return fmt::format("{} {}, more than the {} {}", what, shown(needed), shown(limit), whose);
}

}  // namespace

Bytes private_bytes_of(const Case& one, Bytes resident_before) {
  if (one.runs.empty() || one.config.loader.num_workers <= 0) return 0;
  const CaseRun& run = one.runs.back();
  if (run.of_worker > 0) return run.of_worker;
  const Bytes rest = run.resident - resident_before - run.slots;
  return std::max<Bytes>(0, rest) / (one.config.loader.num_workers * one.config.trainer.ranks);
}

std::string reason_not_to_run(const RunConfig& config, const TuneOptions& options,
                              Bytes private_bytes) {
  if (options.max_workers && config.loader.num_workers > *options.max_workers)
    return fmt::format("more workers than --max-workers {}", *options.max_workers);
  if (is_model_engine(config.engine.value) && !options.max_memory) return "";
  const Price price = price_of(config);
  const auto of_workers = static_cast<Bytes>(kGrowth * static_cast<double>(private_bytes) *
                                             static_cast<double>(price.workers));
  const Bytes needed = price.slots + of_workers;
  const std::string what = fmt::format("slots{} take", of_workers > 0 ? " and workers" : "");
  if (options.max_memory) {
    const std::string reason = beyond(what, needed, *options.max_memory, "of --max-memory");
    if (!reason.empty()) return reason;
  }
  if (options.lockable && locks_memory(config)) {
    // A pin thread copies from ordinary slots into as many that are locked.
    const Bytes locked =
        config.loader.memory == MemoryMode::pin_thread ? price.slots / 2 : price.slots;
    const std::string reason =
        beyond("page-locked slots take", locked, *options.lockable, "that ulimit -l allows");
    if (!reason.empty()) return reason;
  }
  if (options.free_shared && config.loader.executor == Executor::processes) {
    const std::string reason =
        beyond("slots take", price.slots, *options.free_shared, "free in /dev/shm");
    if (!reason.empty()) return reason;
  }
  return options.free_memory ? beyond(what, needed, *options.free_memory, "of memory that are free")
                             : "";
}

}  // namespace loaderscope
