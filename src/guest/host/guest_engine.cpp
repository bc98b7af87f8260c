#include "guest/host/guest_engine.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "base/python_script.h"
#include "engine/pipeline/loader_plan.h"
#include "guest/host/guest_files.h"
#include "guest/host/job.h"
#include "loaderscope/device.h"
#include "loaderscope/errors.h"
#include "machine/binding.h"
#include "record/config_facts.h"
#include "settings/dataloader_arguments.h"
#include "settings/engine_table.h"
#include "source/cache_folder.h"

namespace loaderscope {

RunRecord run_guest(const RunConfig& config, const RunContext& context) {
  if (config.program.command.given) {
    guest::refuse_python_without_site(config.program.command.value);
    guest::refuse_missing_directory(config.program.directory.value);
    return guest::Job(config, context, config.program.command.value).run();
  }
  const std::vector<std::string> command = {config.program.python.value, "-m",
                                            "loaderscope_guest.trainer"};
  return guest::Job(config, context, command).run();
}

}  // namespace loaderscope

namespace loaderscope::guest {
namespace {

bool is_python(const std::string& word) {
  const std::string_view name = std::string_view(word).substr(word.rfind('/') + 1);
  return name.starts_with("python") &&
         name.find_first_not_of("0123456789.", std::string_view("python").size()) == name.npos;
}

// Returns the flag in a word of short flags, such as -uI, that keeps the guest out. 0 if none.
char keeps_us_out(std::string_view word) {
  for (const char flag : word.substr(1)) {
    if (flag == 'E' || flag == 'I' || flag == 'S') return flag;
    // The rest is the value of the flag, or the program and its arguments.
    if (flag == 'c' || flag == 'm' || flag == 'W' || flag == 'X') break;
  }
  return 0;
}

}  // namespace

void refuse_missing_directory(const std::string& folder) {
  std::error_code error;
  if (folder.empty() || std::filesystem::is_directory(folder, error)) return;
  throw UsageError("directory = " + shown_text(folder) + ": there is no such folder",
                   "give the folder in which the program runs");
}

void refuse_python_without_site(const std::vector<std::string>& command) {
  const auto script = find_python_script(command);
  auto word = std::find_if(command.begin(), script, is_python);
  if (word == script) return;
  for (++word; word != command.end() && word->size() > 1 && word->front() == '-'; ++word) {
    if (word->starts_with("--")) continue;
    if (const char flag = keeps_us_out(*word); flag != 0) {
      throw UsageError(
          "python -" + std::string(1, flag) +
              ": leaves out the site module or PYTHONPATH, by which measuring begins in a program",
          "leave out -" + std::string(1, flag));
    }
    if (*word == "-c" || *word == "-m") return;
    if (*word == "-W" || *word == "-X") ++word;
    if (word == command.end()) return;
  }
}

// Settings for the Python side of a run.

namespace {

using nlohmann::json;

json injections(const RunConfig& config) {
  json all = json::array();
  for (const Injection& injection : config.declared.inject.value) {
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

bool is_pipeline(const RunConfig& c) { return find_pipeline(c.program.loader.value) != nullptr; }

// Arguments of a bundled pipeline, which need not be overridden. Null if the loader is the user's.
json pipeline(const RunConfig& c) {
  if (!is_pipeline(c)) return nullptr;
  return {{"folder", c.data.paths.value.front()},
          {"made", source::user_cache_folder()},
          {"workers", c.loader.num_workers.value},
          {"batch_size", c.loader.batch_size.value},
          {"size", c.image.size.value},
          {"seed", c.measure.seed.value},
          {"prefetch", c.loader.prefetch_factor.value}};
}

// Settings that pipeline() passes to a bundled pipeline.
bool is_of_pipeline(std::string_view setting) {
  return setting == "num-workers" || setting == "batch-size" || setting == "prefetch-factor";
}

json value_in_python(const RunConfig& config, const Field& field) {
  const std::string text = field.text(config);
  if (field.is_number) return parse_count(text);
  return field.is_switch() ? json(text == "true") : json(text);
}

// Only what was given: everything else stays as the program has it.
json overrides(const RunConfig& c) {
  json all = json::object();
  for (const DataLoaderArgument& argument : given_dataloader_arguments(c)) {
    if (is_pipeline(c) && is_of_pipeline(argument.setting)) continue;
    all[std::string(argument.keyword)] = value_in_python(c, *find_field(argument.setting));
  }
  return all;
}

// Compute times of consecutive steps. The list repeats after its end.
json compute_times(const LoaderPlan& plan) {
  constexpr std::int64_t kDraws = 1000;
  const auto& injections = plan.config.declared.inject.value;
  const bool constant =
      plan.config.trainer.compute.value.shape == Distribution::Shape::constant &&
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
  const LoaderPlan plan(c);
  const bool pageable = c.loader.memory.value == MemoryMode::pageable;
  const bool has_link = device_kind(c.trainer.device.value) == DeviceKind::simulated;
  return {{"loader", c.program.loader.value},
          {"pipeline", pipeline(c)},
          {"train_step", c.program.train_step.value},
          {"epochs", c.measure.epochs.value},
          {"device", trains_itself(c) ? "script" : c.trainer.device.value},
          {"own_copy_stream", c.trainer.copy.value == CopyMode::stream ? 1 : 0},
          {"sync_copies", c.trainer.copy.value == CopyMode::sync ? 1 : 0},
          {"copied_by_caller", pageable ? 1 : 0},
          {"in_flight", c.trainer.in_flight.value},
          {"link_rate", !has_link  ? 0.0
                        : pageable ? c.trainer.link.value.pageable
                                   : c.trainer.link.value.pinned},
          {"compute", compute_times(plan)},
          {"products", c.trainer.compute.value.gemm}};
}

json replay_turns(const ReplaySchedule* turns) {
  if (turns == nullptr) return nullptr;
  return {{"lead", turns->lead}, {"loader", turns->loader()}, {"replay", turns->replay()}};
}

ProgramBinding resolve_binding(const RunConfig& config) {
  const Bind& bind = config.loader.bind.value;
  if (bind.way == Bind::Way::none) return {};
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return plan_program_binding(topology_to_bind_by(), bind, visible == nullptr ? "" : visible);
}

json bound(const RunConfig& config) {
  const ProgramBinding binding = resolve_binding(config);
  if (binding.empty()) return nullptr;
  return {{"in_turn", binding.cpu_per_worker}, {"by_rank", binding.rank_cpus}};
}

}  // namespace

std::vector<std::string> notes_on_binding(const RunConfig& config) {
  return describe_binding(resolve_binding(config), config.loader.bind.value);
}

std::string settings_json(const RunConfig& config, const ReplaySchedule* replay) {
  return json{
      {"inject", injections(config)},   {"seed", config.measure.seed.value},
      {"trainer", trainer(config)},     {"batch_function", config.program.batch_function.value},
      {"replay", replay_turns(replay)}, {"overrides", overrides(config)},
      {"bind", bound(config)}}
      .dump();
}

}  // namespace loaderscope::guest
