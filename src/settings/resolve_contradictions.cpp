// Settings of which one forbids the other.
#include <algorithm>

#include "loaderscope/errors.h"
#include "loaderscope/run_config.h"
#include "record/family_traits.h"
#include "settings/refuse.h"
#include "settings/resolve_steps.h"

namespace loaderscope::settings {
namespace {

void check_inline(const RunConfig& c) {
  if (c.loader.executor != Executor::inline_) return;
  for (const Field& field : fields()) {
    if (field.is_about(about::kNeedsWorkers) && field.given(c) && field.text(c) != "false")
      refuse(c, field.name, "has no meaning without workers (num-workers = 0)");
  }
  if (c.loader.task == TaskShape::sample) refuse(c, "task", "needs workers, and num-workers = 0");
}

// A worker of a stream makes its batches of what comes, for as long as it comes.
void check_stream(const RunConfig& c) {
  if (!is_streamed(c)) return;
  const auto refuse_in_stream = [&c](std::string_view key, const std::string& why,
                                     const std::string& hint) {
    refuse(c, key, "the data is a stream: " + why, hint);
  };
  if (c.loader.task == TaskShape::sample && c.loader.num_workers > 0)
    refuse_in_stream("task", "its workers make whole batches of their own shards",
                     "give task = batch");
  if (c.data.samples > 0)
    refuse_in_stream("samples", "how many it has is known when it ends",
                     "give --steps or --epochs");
  if (c.loader.shuffle)
    refuse_in_stream("shuffle", "its order is its own", "give tar:PATH?stream=1&shuffle=1000");
  if (c.trainer.sync_ranks && c.trainer.ranks > 1 && c.measure.epochs > 0) {
    refuse_in_stream(
        "sync-ranks",
        "its ranks may have unequal numbers of batches, and one that ended would keep the others",
        "leave out --epochs");
  }
  if (c.answer.prove != Prove::off) {
    refuse_in_stream("prove",
                     "no samples are kept to be replayed, so that no stage can be left out",
                     "measure the same shards by their index, without stream=1");
  }
}

void check_window(const RunConfig& c) {
  if (!c.loader.prefetch_depth.given) return;
  if (c.loader.task == TaskShape::batch)
    refuse(c, "prefetch-depth", "is for task = sample", "give prefetch-factor with task = batch");
  if (c.loader.prefetch_factor.given)
    refuse(c, "prefetch-factor", "contradicts " + in_words(c, "prefetch-depth"),
           "give one of them");
}

void check_measurement(const RunConfig& c) {
  if (c.measure.steps.given && c.measure.steps > 0 && c.measure.duration.given) {
    refuse(c, "steps", "contradicts " + in_words(c, "duration"), "give one of them");
  }
  const bool endless = c.data.samples == 0 && !c.has_data();
  if (c.measure.epochs > 0 && endless) {
    refuse(c, "epochs", "the data set is endless", "give samples, the length of an epoch");
  }
  if (c.loader.drop_last && c.data.samples > 0 &&
      (c.data.samples - 1) / c.trainer.ranks + 1 < c.loader.batch_size) {
    refuse(c, "samples",
           "with drop-last not one batch of " + std::to_string(c.loader.batch_size) +
               " samples is left for each rank");
  }
}

void check_storage(const RunConfig& c) {
  if (c.cost_of(Stage::read) == nullptr) return;
  refuse_any(c, about::kStorage, "contradicts the declared cost of read", "give one of them");
}

void check_injections(const RunConfig& c) {
  const std::int64_t workers =
      std::max<std::int64_t>(1, c.loader.num_workers);  // the trainer is worker 0
  for (const Injection& injection : c.declared.inject.value) {
    const std::string place = "inject = " + shown_text(injection.text) + ": ";
    if (injection.rank && *injection.rank >= c.trainer.ranks) {
      throw UsageError(place + "this rank does not exist",
                       "give a rank below " + std::to_string(c.trainer.ranks));
    }
    if (injection.stage == Stage::opaque) {
      throw UsageError(place + "nothing is opaque in a loader of ours", "give another stage");
    }
    if (injection.worker && *injection.worker >= workers) {
      throw UsageError(place + "this worker does not exist",
                       "give a worker below " + std::to_string(workers));
    }
  }
}

void check_device(const RunConfig& c) {
  if (device_kind(c.trainer.device.value) == DeviceKind::none && c.trainer.compute.given) {
    refuse(c, "compute", "device = null computes nothing", "leave one of them out");
  }
  if (!c.trainer.compute.value.gemm) return;
  const std::string reason =
      "contradicts " + in_words(c, "compute") + ", which launches as many kernels as it needs";
  if (c.trainer.launches > 1) refuse(c, "launches", reason);
  if (c.trainer.graph) refuse(c, "graph", reason);
}

void check_bind(const RunConfig& c) {
  if (c.loader.bind.value.way != Bind::Way::near_gpu || is_model_engine(c.engine.value) ||
      device_kind(c.trainer.device.value) == DeviceKind::gpu)
    return;
  refuse(c, "bind", "there is no GPU with device = " + c.trainer.device.value,
         "give spread, compact or a list of CPUs");
}

}  // namespace

void check_contradictions(const RunConfig& c) {
  check_inline(c);
  check_stream(c);
  check_window(c);
  check_measurement(c);
  check_storage(c);
  check_injections(c);
  check_device(c);
  check_bind(c);
}

}  // namespace loaderscope::settings
