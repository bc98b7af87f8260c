#include "property/drawn_pipeline.h"

#include <fmt/format.h>

#include <cstdlib>
#include <initializer_list>
#include <random>
#include <sstream>

#include "engine/model/model_engine.h"
#include "loaderscope/settings.h"

namespace loaderscope::property {
namespace {

// Numbers of std::mt19937_64 are the same everywhere; its distributions are not.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  bool chance(double probability) { return uniform() < probability; }
  template <class T>
  T choose(std::initializer_list<T> values) {
    return *(values.begin() +
             static_cast<std::ptrdiff_t>(uniform() * static_cast<double>(values.size())));
  }
  // Evenly over the orders of magnitude.
  std::int64_t microseconds(double low, double high) {
    return std::llround(low * std::pow(high / low, uniform()));
  }

 private:
  std::mt19937_64 random_;
};

class Settings {
 public:
  explicit Settings(std::uint64_t seed) : draw_(seed) {}

  std::string text() {
    loader();
    sample_stages();
    batch_stages();
    device();
    add(fmt::format("seed={} warmup=12 steps=120", draw_.choose({0, 3, 7})));
    return text_;
  }

 private:
  void add(const std::string& word) { text_ += (text_.empty() ? "" : " ") + word; }

  void loader() {
    const int workers = draw_.choose({0, 1, 1, 2, 2, 3, 4, 6, 8});
    has_workers_ = workers > 0;
    add(fmt::format("workers={} batch={}", workers, draw_.choose({1, 2, 4, 8, 16})));
    if (!has_workers_) return;
    if (draw_.chance(0.4)) add(fmt::format("prefetch-factor={}", draw_.choose({1, 2, 3, 4, 8})));
    if (draw_.chance(0.15)) add("task=sample");
    if (draw_.chance(0.15)) add("in-order=false");
    if (draw_.chance(0.2)) {
      add(fmt::format("samples={} cost=startup={}us", draw_.choose({160, 320}),
                      draw_.microseconds(2000, 200000)));
      if (draw_.chance(0.5)) add("persistent-workers=true");
    }
  }

  // "4000us", "lognormal:4000us:0.6"
  std::string time(double low, double high) {
    const std::int64_t us = draw_.microseconds(low, high);
    if (draw_.chance(0.5)) return fmt::format("{}us", us);
    return fmt::format("lognormal:{}us:{}", us, draw_.choose({0.2, 0.5, 1.0}));
  }

  void sample_stages() {
    const bool from_storage = draw_.chance(0.15);
    if (from_storage) {
      add(fmt::format("storage-latency={}us storage-concurrency={}", draw_.microseconds(200, 8000),
                      draw_.choose({1, 2, 4})));
    }
    for (const char* stage : {"read", "decode", "augment"}) {
      if (!draw_.chance(0.6) || (from_storage && stage == std::string_view("read"))) continue;
      const char* kind = draw_.choose({"", ":sleep", ":cpu"});
      add(fmt::format("cost={}={}{}", stage, time(100, 8000), kind));
    }
    if (draw_.chance(0.1)) add("inject=decode=+60ms@p=0.02");
  }

  void batch_stages() {
    if (draw_.chance(0.3)) add(fmt::format("cost=collate={}", time(200, 8000)));
    if (has_workers_ && draw_.chance(0.25)) {
      add(fmt::format("executor=processes cost=transport={}:sleep cost=transport.recv={}:cpu",
                      time(200, 8000), time(200, 8000)));
    }
    if (draw_.chance(0.4)) add(fmt::format("cost=h2d={}", time(200, 10000)));
    if (draw_.chance(0.3)) add(fmt::format("cost=launch={}:cpu", time(100, 5000)));
    if (draw_.chance(0.25)) {
      add(fmt::format("memory=pin-thread cost=pin={}:cpu", time(200, 8000)));
    } else if (draw_.chance(0.2)) {
      add("memory=pageable");
    }
    add(fmt::format("copy={} in-flight={}", draw_.choose({"sync", "async", "stream"}),
                    draw_.choose({1, 2, 2, 3})));
  }

  void device() {
    if (draw_.chance(0.1)) {
      add("device=null");
    } else {
      add(fmt::format("compute={}us", draw_.microseconds(1000, 40000)));
    }
    add(fmt::format("cores={}", draw_.choose({1, 2, 4, 64})));
    if (draw_.chance(0.1)) {
      add("ranks=2");
      if (draw_.chance(0.5)) add("sync-ranks=true");
    }
  }

  Draw draw_;
  std::string text_;
  bool has_workers_ = false;
};

std::int64_t from_environment(const char* name, std::int64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atoll(text) : otherwise;
}

}  // namespace

std::string drawn_settings(std::uint64_t seed) { return Settings(seed).text(); }

RunConfig parse_drawn_settings(const std::string& settings) {
  std::istringstream words(settings);
  std::string lines, word;
  while (words >> word) {
    const auto equals = word.find('=');
    lines += word.substr(0, equals) + " = " + word.substr(equals + 1) + "\n";
  }
  RunConfig config;
  parse_scenario("engine = model\n" + lines, "drawn", config);
  std::vector<std::string> notes;
  return resolve(config, MachineLimits{1024}, notes);
}

RunRecord run(const RunConfig& config) { return run_model(config, {}); }

void for_each_drawn(int count, const std::function<void(const std::string& settings)>& look) {
  const std::int64_t first = from_environment("LOADERSCOPE_PROPERTY_FIRST", 1);
  const std::int64_t many = from_environment("LOADERSCOPE_PROPERTY_COUNT", count);
  for (std::int64_t seed = first; seed < first + many; ++seed)
    look(drawn_settings(static_cast<std::uint64_t>(seed)));
}

}  // namespace loaderscope::property
