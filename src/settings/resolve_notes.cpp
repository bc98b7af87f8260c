// Notes on given settings that have no effect.
#include "loaderscope/run_config.h"
#include "record/family_traits.h"
#include "settings/refuse.h"
#include "settings/resolve_steps.h"

namespace loaderscope::settings {
namespace {

void note_costs(const RunConfig& c, std::vector<std::string>& notes) {
  for (const Cost& cost : c.declared.cost.value) {
    if (cost.stage == Stage::pin && c.loader.memory != MemoryMode::pin_thread) {
      notes.push_back("cost pin has no effect: only memory = pin-thread pins finished batches");
    }
    if (cost.stage == Stage::h2d && device_kind(c.trainer.device.value) == DeviceKind::none) {
      notes.push_back("cost h2d has no effect: device = null copies nothing");
    }
    if (cost.stage == Stage::h2d && c.trainer.link.given) {
      notes.push_back(in_words(c, "link") + " has no effect: the cost of h2d is declared");
    }
  }
}

void note_settings(const RunConfig& c, std::vector<std::string>& notes) {
  if (c.loader.shuffle_buffer > 0 && !c.loader.shuffle) {
    notes.push_back(in_words(c, "shuffle-buffer") + " has no effect without shuffle");
  }
  if (c.loader.mp_context.given && c.loader.executor != Executor::processes) {
    notes.push_back(in_words(c, "mp-context") + " has no effect: it is for executor = processes");
  }
  if (c.trainer.link.given && device_kind(c.trainer.device.value) == DeviceKind::none) {
    notes.push_back(in_words(c, "link") + " has no effect: device = null copies nothing");
  }
  if (c.loader.bind.value.way != Bind::Way::none && is_model_engine(c.engine.value)) {
    notes.push_back(in_words(c, "bind") + " has no effect: the model's cores are all alike");
  }
  if (c.trainer.sync_ranks && c.trainer.ranks == 1) {
    notes.push_back("sync-ranks has no effect: there is one rank");
  }
  if (c.loader.drop_last && c.data.samples == 0 && !c.has_data()) {
    notes.push_back("drop-last has no effect: the data set is endless");
  }
  if (!c.loader.in_order && c.loader.num_workers <= 1) {
    notes.push_back("no-in-order has no effect: one worker delivers in order");
  }
}

void note_device(const RunConfig& c, std::vector<std::string>& notes) {
  const bool is_real =
      device_kind(c.trainer.device.value) == DeviceKind::gpu && !is_model_engine(c.engine.value);
  if (is_real && c.trainer.link.given)
    notes.push_back(in_words(c, "link") + " has no effect: device = cuda has a real link");
  if (is_real && c.has_data() && c.cost_of(Stage::h2d) != nullptr)
    notes.push_back("cost h2d is added to the real copies of device = cuda");
  if (is_real) return;
  for (std::string_view key : {"launches", "graph"}) {
    if (find_field(key)->given(c))
      notes.push_back(in_words(c, key) + " has no effect: only device = cuda launches kernels");
  }
  if (c.trainer.compute.value.gemm)
    notes.push_back(in_words(c, "compute") + ": nothing is multiplied, only its time is taken");
}

}  // namespace

void note_no_effect(const RunConfig& c, std::vector<std::string>& notes) {
  note_costs(c, notes);
  note_settings(c, notes);
  note_device(c, notes);
}

}  // namespace loaderscope::settings
