#include "engine/guest/settings.h"

#include <nlohmann/json.hpp>

#include "config/resolve_guest.h"
#include "engine/plan.h"

namespace loaderscope::guest {
namespace {

using nlohmann::json;

json stages() {
  json numbers = json::object();
  for (const auto& word : Words<Stage>::table()) numbers[std::string(word.name)] = word.value;
  return numbers;
}

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

// Only what was given: everything else stays as the program has it.
json overrides(const RunConfig& c) {
  json all = json::object();
  if (c.num_workers.given) all["num_workers"] = c.num_workers.value;
  if (c.prefetch_factor.given) all["prefetch_factor"] = c.prefetch_factor.value;
  if (c.batch_size.given) all["batch_size"] = c.batch_size.value;
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
  const bool constant = plan.config.compute.value.shape == Distribution::Shape::constant;
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
  const bool has_link = c.device.value == "sim";
  return {{"loader", c.loader.value},
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

}  // namespace

std::string settings_json(const RunConfig& config) {
  return json{{"stages", stages()},
              {"inject", injections(config)},
              {"seed", config.seed.value},
              {"trainer", trainer(config)},
              {"overrides", overrides(config)}}
      .dump();
}

}  // namespace loaderscope::guest
