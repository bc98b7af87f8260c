#include "unit/account/random_pipelines.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "engine/model/model_engine.h"
#include "loaderscope/engine.h"
#include "loaderscope/errors.h"
#include "loaderscope/settings.h"

namespace loaderscope {

std::uint64_t Dice::bits() {  // splitmix64
  std::uint64_t x = state_ += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

std::int64_t Dice::between(std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(high - low + 1));
}

namespace {

// Writes down one random pipeline, setting by setting.
class Generator {
 public:
  Generator(std::uint64_t seed, const PipelineLimits& limits)
      : dice_(seed), limits_(limits), scale_(static_cast<Scale>(dice_.between(0, 2))) {}

  std::vector<std::pair<std::string, std::string>> settings() {
    ranks();
    loader();
    data_set();
    trainer();
    storage();
    costs();
    if (limits_.on_device && workers_ > 0 && has_device_) device_work();
    if (!limits_.no_injections) injections();
    cores();
    window();
    set("seed", std::to_string(dice_.between(0, 1'000'000)));
    return std::move(settings_);
  }

 private:
  // Few different values make many ties; tiny ones show what rounding does.
  enum class Scale { ticks, tiny, wild };

  void set(const char* key, const std::string& value) { settings_.emplace_back(key, value); }

  std::int64_t some_ns() {
    switch (scale_) {
      case Scale::ticks:
        return dice_.between(0, 12) * 1'000'000;
      case Scale::tiny:
        return dice_.between(0, 60);
      case Scale::wild:
        return static_cast<std::int64_t>(std::exp(dice_.unit() * 17.2));  // up to 30 ms
    }
    return 0;
  }

  static std::string time(std::int64_t ns) { return ns == 0 ? "0" : std::to_string(ns) + "ns"; }

  std::string some_time() { return time(some_ns()); }

  std::string distribution(std::int64_t least = 0) {
    const std::int64_t ns = std::max(some_ns(), least);
    if (limits_.constant || ns == 0) return time(ns);
    switch (dice_.between(0, 7)) {
      case 0:
        return "lognormal:" + time(ns) + ":0." + std::to_string(dice_.between(1, 9));
      case 1:
        return time(ns) + ":p99=" + time(ns * dice_.between(2, 9));
      case 2:
        return "exponential:" + time(ns);
      case 3:
        return "uniform:" + time(ns / 2) + ":" + time(ns * 2);
      default:
        return time(ns);
    }
  }

  void ranks() {
    ranks_ = std::min(dice_.pick<std::int64_t>({1, 1, 1, 2, 3}), limits_.most_ranks);
    if (ranks_ > 1) set("ranks", std::to_string(ranks_));
    if (ranks_ > 1 && dice_.chance(2)) set("sync-ranks", "true");
  }

  void loader() {
    workers_ = dice_.chance(8) ? 0 : dice_.between(1, dice_.pick<std::int64_t>({2, 4, 12}));
    set("num-workers", std::to_string(workers_));
    batch_size_ = dice_.between(1, 4);
    set("batch-size", std::to_string(batch_size_));
    set("memory", dice_.pick<const char*>(
                      {"pageable", "pin-thread", "pinned-slots", "registered", "write-combined"}));
    if (limits_.no_merging && settings_.back().second == "pin-thread")
      settings_.back().second = "pageable";
    if (workers_ == 0) return;
    const bool sample_tasks = !limits_.batch_tasks && dice_.chance(3);
    if (sample_tasks) set("task", "sample");
    if (sample_tasks && dice_.chance(2)) {
      set("prefetch-depth", std::to_string(dice_.between(1, 9)));
    } else {
      set("prefetch-factor", std::to_string(dice_.between(1, 4)));
    }
    if (!limits_.in_order && dice_.chance(3)) set("in-order", "false");
    if (dice_.chance(2)) set("persistent-workers", "true");
    if (dice_.chance(2)) {
      set("executor", "processes");
      set("mp-context", dice_.pick<const char*>({"fork", "spawn", "forkserver"}));
    }
  }

  void data_set() {
    if (dice_.chance(2)) {
      const std::int64_t samples = dice_.between(ranks_ * batch_size_, 60);
      set("samples", std::to_string(samples));
      has_epochs_ = true;
      if (dice_.chance(3)) set("drop-last", "true");
    }
    if (dice_.chance(3)) set("shuffle", "true");
    if (!limits_.constant && dice_.chance(3)) set("stored-bytes", "lognormal:110KB:0.7");
    set("delivered-bytes", std::to_string(dice_.between(1, 200'000)));
  }

  void trainer() {
    has_device_ = !dice_.chance(6);
    set("device", has_device_ ? "sim" : "null");
    if (has_device_ && !dice_.chance(6)) set("compute", distribution());
    set("copy", dice_.pick<const char*>({"sync", "async", "stream"}));
    set("in-flight", std::to_string(dice_.between(1, 4)));
    if (has_device_ && !limits_.constant && dice_.chance(3)) {
      set("link", std::to_string(dice_.between(1, 30)) + "/" + std::to_string(dice_.between(1, 9)));
    }
  }

  void storage() {
    if (!dice_.chance(4)) return;
    has_storage_ = true;
    set("storage-latency", some_time());
    if (limits_.own_storage) return;
    if (dice_.chance(2)) set("storage-bandwidth", std::to_string(dice_.between(1, 900)) + "MB/s");
    if (dice_.chance(2)) set("storage-concurrency", std::to_string(dice_.between(1, 6)));
  }

  void costs() {
    for (const Stage stage : cost_stages()) {
      if ((stage == Stage::read && has_storage_) || is_on_device(stage)) continue;
      if (limits_.no_merging && stage == Stage::transport_recv) continue;
      if (!dice_.chance(stage == Stage::decode ? 1 : 3)) continue;
      // A rank whose steps take no time would keep the others from going on.
      const std::int64_t least = stage == Stage::decode && ranks_ > 1 ? 1 : 0;
      const bool has_bytes = stage != Stage::startup && stage != Stage::startup_parent;
      std::string cost = std::string(name_of(stage)) + "=";
      cost += has_bytes && !limits_.constant && dice_.chance(6)
                  ? std::to_string(dice_.between(20, 4000)) + "MB/s"
                  : distribution(least);
      steps_are_long_ |= scale_ == Scale::ticks && cost.starts_with("decode=") &&
                         !cost.ends_with("=0") && !cost.ends_with("MB/s");
      set("cost", cost + dice_.pick<const char*>({"", "", ":cpu", ":sleep"}));
    }
  }

  void device_work() {
    set("decode", dice_.pick<const char*>({"cpu", "hw", "gpu", "split:0.5"}));
    if (settings_.back().second == "cpu") set("augment-on", "gpu");
    set("cost", "gpu-decode=" + distribution());
    set("cost", "gpu-augment=" + distribution());
    set("device-prefetch", std::to_string(dice_.between(1, 4)));
    if (dice_.chance(2)) return;
    set("shared-speed", "gpu-decode=0." + std::to_string(dice_.between(1, 9)) + ":0.5");
    set("shared-speed", "gpu-augment=1:0." + std::to_string(dice_.between(1, 9)));
  }

  void injections() {
    while (dice_.chance(3)) {
      std::vector<Stage> stages = cost_stages();
      std::erase_if(stages, is_on_device);
      const auto last = std::ssize(stages);
      const std::int64_t chosen = dice_.between(0, last);
      const Stage stage =
          chosen == last ? Stage::compute : stages[static_cast<std::size_t>(chosen)];
      if (limits_.no_merging && stage == Stage::transport_recv) continue;
      std::string text = std::string(name_of(stage)) + "=+" + time(some_ns() * dice_.between(1, 9));
      if (dice_.chance(2)) text += "@p=0." + std::to_string(dice_.between(1, 9));
      if (dice_.chance(3)) text += "@every=" + std::to_string(dice_.between(2, 9));
      // One rank a thousand times as slow as another makes for long tests.
      if (scale_ != Scale::wild && dice_.chance(3))
        text += "@rank=" + std::to_string(dice_.between(0, ranks_ - 1));
      if (dice_.chance(3)) {
        text +=
            "@worker=" + std::to_string(dice_.between(0, std::max<std::int64_t>(workers_, 1) - 1));
      }
      set("inject", text);
    }
  }

  void cores() {
    if (limits_.own_cores) {
      set("cores", "1000");
      return;
    }
    set("cores",
        dice_.pick<const char*>({"0.3", "0.5", "1", "1", "1.5", "2", "2.7", "4", "8", "100"}));
    if (dice_.chance(4)) set("core-scaling", dice_.pick<const char*>({"0.9", "0.5", "0.37"}));
  }

  void window() {
    if (limits_.whole_run) {
      set("warmup", "0");
      set("steps", std::to_string(dice_.between(1, limits_.most_steps)));
      return;
    }
    const bool timed = steps_are_long_ && dice_.chance(3);
    set("warmup", timed ? time(some_ns() * 8) : std::to_string(dice_.between(0, 8)));
    const bool all_epochs = has_epochs_ && dice_.chance(3);
    if (all_epochs) set("epochs", std::to_string(dice_.between(1, 3)));
    if (!all_epochs || dice_.chance(3))
      set("steps", std::to_string(dice_.between(1, limits_.most_steps)));
  }

  Dice dice_;
  PipelineLimits limits_;
  Scale scale_;
  std::int64_t ranks_ = 1, workers_ = 1, batch_size_ = 1;
  bool steps_are_long_ = false;  // a ms or so
  bool has_epochs_ = false, has_device_ = true, has_storage_ = false;
  std::vector<std::pair<std::string, std::string>> settings_;
};

}  // namespace

std::string Pipeline::text() const {
  std::string lines;
  for (const auto& [key, value] : settings) lines += key + " = " + value + "\n";
  return lines;
}

bool Pipeline::has(std::string_view key) const { return !value(key).empty(); }

std::string Pipeline::value(std::string_view key) const {
  for (const auto& [name, text] : settings) {
    if (name == key) return text;
  }
  return "";
}

Pipeline resolve_pipeline(std::vector<std::pair<std::string, std::string>> settings) {
  Pipeline pipeline;
  pipeline.settings = std::move(settings);
  RunConfig given;
  given.engine.value = "model";
  for (const auto& [key, value] : pipeline.settings)
    set_field(given, "random pipeline", key, value);
  std::vector<std::string> notes;
  pipeline.config = resolve_to_predict(given, MachineLimits{2}, notes);
  return pipeline;
}

Pipeline random_pipeline(std::uint64_t seed, const PipelineLimits& limits) {
  auto settings = Generator(seed, limits).settings();
  try {
    return resolve_pipeline(settings);
  } catch (const UsageError& error) {
    if (std::string_view(error.what()).find("nothing takes any time") == std::string_view::npos) {
      throw std::logic_error(std::string(error.what()) + " in\n" + Pipeline{settings, {}}.text());
    }
  }
  settings.emplace_back("inject", "launch=+5ms");
  return resolve_pipeline(settings);
}

RunConfig slowed_down(RunConfig config, std::int64_t factor) {
  const auto times = static_cast<double>(factor);
  const auto slow = [&](Distribution& distribution) {
    distribution.mean *= times;
    distribution.spread *= distribution.shape == Distribution::Shape::uniform ? times : 1;
  };
  for (Cost& cost : config.declared.cost.value) slow(cost.amount);
  slow(config.trainer.compute.value);
  for (Injection& injection : config.declared.inject.value) injection.extra *= factor;
  config.declared.storage_latency.value *= factor;
  config.measure.duration.value *= factor;
  config.measure.warmup.value.duration *= factor;
  return config;
}

RunRecord run_pipeline(const RunConfig& config, EventObserver* observer) {
  RunContext context;
  context.observer = observer;
  return run_model(config, context);
}

std::vector<StepRow> collect_rows(const RankRecord& rank) {
  std::vector<StepRow> rows;
  rank.rows.for_each([&](const StepRow& row) { rows.push_back(row); });
  return rows;
}

}  // namespace loaderscope
