// What is written for the Python side of a run.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/pipeline/plan.h"
#include "guest/host/guest_files.h"
#include "loaderscope/device.h"
#include "loaderscope/engine.h"
#include "settings/engine_table.h"
#include "settings/resolve_guest.h"
#include "source/cache_folder.h"

namespace loaderscope::guest {
namespace {

using nlohmann::json;

json injections(const RunConfig& config) {
  json all = json::array();
  for (const Injection& injection : config.inject.value) {
    json one = {{"stage", std::string(name_of(injection.stage))},
                {"seconds", static_cast<double>(injection.extra) * 1e-9},
                {"every", injection.every},
                {"probability", injection.probability}};
    if (injection.worker) one["worker"] = *injection.worker;
    if (injection.rank) one["rank"] = *injection.rank;
    all.push_back(std::move(one));
  }
  return all;
}

bool is_pipeline(const RunConfig& c) { return find_pipeline(c.loader.value) != nullptr; }

// What a pipeline that we bring is told, which need not be overridden; null: the loader is the
// user's.
json pipeline(const RunConfig& c) {
  if (!is_pipeline(c)) return nullptr;
  return {{"folder", c.data.value.front()},
          {"made", source::user_cache_folder()},
          {"workers", c.num_workers.value},
          {"batch_size", c.batch_size.value},
          {"size", c.size.value},
          {"seed", c.seed.value},
          {"prefetch", c.prefetch_factor.value}};
}

// Only what was given: everything else stays as the program has it.
json overrides(const RunConfig& c) {
  json all = json::object();
  if (!is_pipeline(c)) {
    if (c.num_workers.given) all["num_workers"] = c.num_workers.value;
    if (c.batch_size.given) all["batch_size"] = c.batch_size.value;
    if (c.prefetch_factor.given) all["prefetch_factor"] = c.prefetch_factor.value;
  }
  if (c.pin_memory.given || c.memory.given)
    all["pin_memory"] = c.memory.value == MemoryMode::pin_thread;
  if (c.persistent_workers.given) all["persistent_workers"] = c.persistent_workers.value;
  if (c.in_order.given) all["in_order"] = c.in_order.value;
  if (c.drop_last.given) all["drop_last"] = c.drop_last.value;
  if (c.shuffle.given) all["shuffle"] = c.shuffle.value;
  if (c.mp_context.given) all["multiprocessing_context"] = name_of(c.mp_context.value);
  return all;
}

// Of the steps one after the other, from the first again behind the last.
json compute_times(const Plan& plan) {
  constexpr std::int64_t kDraws = 1000;
  const auto& injections = plan.config.inject.value;
  const bool constant =
      plan.config.compute.value.shape == Distribution::Shape::constant &&
      std::none_of(injections.begin(), injections.end(),
                   [](const Injection& one) { return one.stage == Stage::compute; });
  json times = json::array();
  for (std::int64_t step = 0; step < (constant ? 1 : kDraws); ++step) {
    Execution execution;
    execution.draw = execution.count = step;
    times.push_back(plan.compute_time(execution));
  }
  return times;
}

json trainer(const RunConfig& c) {
  const Plan plan(c);
  const bool pageable = c.memory.value == MemoryMode::pageable;
  const bool has_link = device_kind(c.device.value) == DeviceKind::simulated;
  return {{"loader", c.loader.value},
          {"pipeline", pipeline(c)},
          {"train_step", c.train_step.value},
          {"epochs", c.epochs.value},
          {"device", trains_itself(c) ? "script" : c.device.value},
          {"own_copy_stream", c.copy.value == CopyMode::stream ? 1 : 0},
          {"sync_copies", c.copy.value == CopyMode::sync ? 1 : 0},
          {"copied_by_caller", pageable ? 1 : 0},
          {"in_flight", c.in_flight.value},
          {"link_rate", !has_link  ? 0.0
                        : pageable ? c.link.value.pageable
                                   : c.link.value.pinned},
          {"compute", compute_times(plan)},
          {"products", c.compute.value.gemm}};
}

json replay_turns(const ReplayTurns* turns) {
  if (turns == nullptr) return nullptr;
  return {{"lead", turns->lead}, {"loader", turns->loader()}, {"replay", turns->replay()}};
}

}  // namespace

std::string settings_json(const RunConfig& config, const ReplayTurns* replay) {
  return json{{"inject", injections(config)},
              {"seed", config.seed.value},
              {"trainer", trainer(config)},
              {"replay", replay_turns(replay)},
              {"overrides", overrides(config)}}
      .dump();
}

}  // namespace loaderscope::guest
