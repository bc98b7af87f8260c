// Fields: declared costs, the measurement and the answer.
#include <algorithm>

#include "settings/field_rows.h"
#include "settings/requirement.h"

namespace loaderscope::settings {

using namespace about;

namespace {

constexpr const char* kCosts = "Declared costs";
constexpr const char* kMeasurement = "The measurement";
constexpr const char* kAnswer = "The answer";

void add_cost(std::vector<Cost>& costs, std::string_view text) {
  Cost cost = parse_cost(text);
  const auto same = std::find_if(costs.begin(), costs.end(),
                                 [&](const Cost& c) { return c.stage == cost.stage; });
  if (same == costs.end()) {
    costs.push_back(std::move(cost));
  } else {
    *same = std::move(cost);
  }
}

void add_injection(std::vector<Injection>& injections, std::string_view text) {
  injections.push_back(parse_injection(text));
}

void add_requirement(std::vector<std::string>& requirements, std::string_view text) {
  parse_requirement(text);
  requirements.emplace_back(text);
}

}  // namespace

void add_costs(Table& t) {
  t.push_back(many<Cost>(
      {"cost",
       {},
       kCosts,
       kNativeLoader,
       "STAGE=COST",
       "What a stage takes: STAGE=[DIST:]VALUE[:p99=V][:cpu|:sleep], such as decode=8ms, "
       "read=100MB/s, read=lognormal:8ms:0.5; repeatable.",
       "none"},
      &DeclaredConfig::cost, add_cost, [](const Cost& cost) { return cost.text; }));
  t.push_back(many<Injection>({"inject",
                               {},
                               kCosts,
                               kNoTrait,
                               "STAGE=+DURATION",
                               "A delay added to a stage: "
                               "STAGE=+150ms[@p=0.01][@every=100][@rank=1][@worker=0]; repeatable.",
                               "none"},
                              &DeclaredConfig::inject, add_injection,
                              [](const Injection& injection) { return injection.text; }));
  t.push_back(one({"cores",
                   {},
                   kCosts,
                   kCores | kNativeLoader,
                   "X",
                   "Cores that the model shares out, such as 1.5.",
                   "affinity and CPU quota of this machine"},
                  &DeclaredConfig::cores, real_codec()));
  t.push_back(one({"core-scaling",
                   {},
                   kCosts,
                   kCores | kNativeLoader,
                   "X",
                   "Speed of a core when all are busy, as a share of its speed alone."},
                  &DeclaredConfig::core_scaling, fraction_codec()));
  t.push_back(one({"storage-latency",
                   {},
                   kCosts,
                   kStorage | kNativeLoader,
                   "DURATION",
                   "Time until the first byte of a read."},
                  &DeclaredConfig::storage_latency, duration_codec()));
  t.push_back(one({"storage-bandwidth",
                   {},
                   kCosts,
                   kStorage | kNativeLoader,
                   "RATE",
                   "Bytes per second that all reads share, such as 500MB/s.",
                   "unlimited"},
                  &DeclaredConfig::storage_bandwidth, byte_rate_codec()));
  t.push_back(one({"storage-concurrency",
                   {},
                   kCosts,
                   kStorage | kNativeLoader,
                   "N",
                   "Reads that the storage serves at once.",
                   "unlimited"},
                  &DeclaredConfig::storage_concurrency, count_codec()));
}

void add_measurement(Table& t) {
  t.push_back(one({"duration",
                   {"runtime"},
                   kMeasurement,
                   kNoTrait,
                   "DURATION",
                   "Length of the measured window."},
                  &MeasureConfig::duration, duration_codec()));
  t.push_back(one(
      {"steps", {}, kMeasurement, kNoTrait, "N", "Measured steps, instead of a duration.", "none"},
      &MeasureConfig::steps, count_codec()));
  t.push_back(one(
      {"epochs", {}, kMeasurement, kNoTrait, "N", "Epochs to run at most.", "as many as needed"},
      &MeasureConfig::epochs, count_codec()));
  t.push_back(one({"warmup",
                   {},
                   kMeasurement,
                   kNoTrait,
                   "N|DURATION",
                   "Steps or time before the measured window, not part of it."},
                  &MeasureConfig::warmup, warmup_codec()));
  t.push_back(one({"timeout",
                   {},
                   kMeasurement,
                   kNoTrait,
                   "DURATION",
                   "How long to wait for a batch before the run fails; 0 waits for ever."},
                  &MeasureConfig::timeout, duration_codec()));
  t.push_back(one({"hang-after",
                   {},
                   kMeasurement,
                   kNoTrait,
                   "DURATION",
                   "Time without a batch, and ten times the 99th percentile of a step, after which "
                   "a program is said to hang, with who waits for whom; 0 never."},
                  &MeasureConfig::hang_after, duration_codec()));
  t.push_back(on_off({"hook-cost",
                      {},
                      kMeasurement,
                      kNoTrait,
                      "",
                      "Measure behind the window what timing its stages costs a program, which "
                      "takes up to 20 s."},
                     &MeasureConfig::hook_cost));
  t.push_back(one({"seed", {}, kMeasurement, kNoTrait, "N", "Seed of every random draw."},
                  &MeasureConfig::seed, count_codec()));
}

void add_answer(Table& t) {
  t.push_back(one({"prove",
                   {},
                   kAnswer,
                   kNotModelled,
                   "[all]",
                   "Knock out what is blamed and run again, in turns with the base case; 'all' "
                   "tells device, memory, page cache and disk apart."},
                  &AnswerConfig::prove, word_codec<Prove>()));
  t.back().implied = name_of(Prove::blamed);
  t.push_back(one({"gpu-price",
                   {},
                   kAnswer,
                   kNoTrait,
                   "X",
                   "Price of a GPU per hour such as 2.5, for what its waiting costs.",
                   "none"},
                  &AnswerConfig::gpu_price, real_codec()));
  t.push_back(many<std::string>(
      {"require",
       {},
       kAnswer,
       kNotModelled,
       "CONDITION",
       "Exit 2 when a value of the result is not so, such as 'device.busy >= 0.85'; repeatable.",
       "none"},
      &AnswerConfig::require, add_requirement, same_text));
  t.push_back(one({"html",
                   {},
                   kAnswer,
                   kNotModelled | kSaved,
                   "FILE",
                   "Save a page there with the answer, its pictures and the result inside.",
                   "none"},
                  &AnswerConfig::html, path_codec()));
  t.push_back(one({"perfetto",
                   {},
                   kAnswer,
                   kNotModelled | kSaved,
                   "FILE",
                   "Save a trace of the run there that ui.perfetto.dev opens.",
                   "none"},
                  &AnswerConfig::perfetto, path_codec()));
  t.push_back(one({"json",
                   {},
                   kAnswer,
                   kNotModelled | kSaved,
                   "FILE",
                   "Save the result there; - prints it instead of the table.",
                   "none"},
                  &AnswerConfig::json, path_codec()));
}

}  // namespace loaderscope::settings
