// Fields: declared costs, the measurement and the answer.
#include <algorithm>

#include "settings/field_rows.h"
#include "settings/requirement.h"

namespace loaderscope::settings {

using namespace about;

namespace {

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

void add_shared_speed(std::vector<SharedSpeed>& speeds, std::string_view text) {
  SharedSpeed speed = parse_shared_speed(text);
  std::erase_if(speeds, [&](const SharedSpeed& s) { return s.stage == speed.stage; });
  speeds.push_back(std::move(speed));
}

void add_requirement(std::vector<std::string>& requirements, std::string_view text) {
  parse_requirement(text);
  requirements.emplace_back(text);
}

}  // namespace

void add_costs(Table& table) {
  Rows rows(table, "Declared costs");
  rows.add_list<Cost>(
      "cost", "STAGE=COST", &DeclaredConfig::cost, add_cost,
      [](const Cost& cost) { return cost.text; }, kNativeLoader,
      "Time of a stage as STAGE=[DIST:]VALUE[:p99=V][:cpu|:sleep]. Examples: decode=8ms, "
      "read=100MB/s, read=lognormal:8ms:0.5. Repeatable.",
      "none");
  rows.add_list<Injection>(
      "inject", "STAGE=+DURATION", &DeclaredConfig::inject, add_injection,
      [](const Injection& injection) { return injection.text; }, kNoTrait,
      "Add a delay to a stage. Full form: STAGE=+150ms[@p=0.01][@every=100][@rank=1][@worker=0]. "
      "Repeatable.",
      "none");
  rows.add_list<SharedSpeed>(
      "shared-speed", "STAGE=C:P", &DeclaredConfig::shared_speed, add_shared_speed,
      [](const SharedSpeed& speed) { return speed.text; }, kNativeLoader,
      "Shares of their speed that compute (C) and the stage (P) keep while both run. With 0:1 the "
      "compute waits, as on one stream. Repeatable.",
      "1:1");
  rows.add("cores", "X", &DeclaredConfig::cores, real_codec(), kNativeLoader,
           "Cores that the model distributes, such as 1.5.",
           "affinity and CPU quota of this machine");
  rows.add("core-scaling", "X", &DeclaredConfig::core_scaling, fraction_codec(), kNativeLoader,
           "Speed of a core when all are busy, as a share of its speed alone.");
  rows.add("storage-latency", "DURATION", &DeclaredConfig::storage_latency, duration_codec(),
           kNativeLoader, "Time until the first byte of a read.");
  rows.add("storage-bandwidth", "RATE", &DeclaredConfig::storage_bandwidth, byte_rate_codec(),
           kNativeLoader, "Bytes per second that all reads share, such as 500MB/s.", "unlimited");
  rows.add("storage-concurrency", "N", &DeclaredConfig::storage_concurrency, count_codec(),
           kNativeLoader, "Reads that the storage serves at once.", "unlimited");
}

void add_measurement(Table& table) {
  Rows rows(table, "The measurement");
  rows.add({"duration", "runtime"}, "DURATION", &MeasureConfig::duration, duration_codec(),
           kNoTrait, "Make the window this long.");
  rows.add("steps", "N", &MeasureConfig::steps, count_codec(), kNoTrait,
           "Number of measured steps, instead of a duration.", "none");
  rows.add("epochs", "N", &MeasureConfig::epochs, count_codec(), kNoTrait, "Epochs to run at most.",
           "as many as needed");
  rows.add("warmup", "N|DURATION", &MeasureConfig::warmup, warmup_codec(), kNoTrait,
           "Steps or time before the measured window, not part of it.");
  rows.add("timeout", "DURATION", &MeasureConfig::timeout, duration_codec(), kNoTrait,
           "Fail the run after waiting this long for a batch. 0 waits for ever.");
  rows.add("hang-after", "DURATION", &MeasureConfig::hang_after, duration_codec(), kNoTrait,
           "Report a hang, and who waits for whom, after this time without a batch. It must also "
           "be 10 times the 99th percentile of a step. 0 disables it.");
  rows.add_switch(
      "hook-cost", &MeasureConfig::hook_cost, kNoTrait,
      "Measure after the window what timing the stages costs the program. Takes up to 20 s.");
  rows.add("seed", "N", &MeasureConfig::seed, count_codec(), kNoTrait,
           "Seed of every random draw.");
}

void add_answer(Table& table) {
  Rows rows(table, "The answer");
  Field& prove = rows.add("prove", "[all]", &AnswerConfig::prove, word_codec<Prove>(), kNotModelled,
                          "Knock out the blamed cause and run again, alternating with the base "
                          "case. 'all' separates device, memory, page cache and disk.");
  prove.implied = name_of(Prove::blamed);
  rows.add("gpu-price", "X", &AnswerConfig::gpu_price, real_codec(), kNoTrait,
           "Set the price of a GPU per hour, such as 2.5, to report the cost of waiting.", "none");
  rows.add_list<std::string>(
      "require", "CONDITION", &AnswerConfig::require, add_requirement, same_text, kNotModelled,
      "Exit with 2 unless this holds, such as 'device.busy >= 0.85'. Repeatable.", "none");
  rows.add("html", "FILE", &AnswerConfig::html, path_codec(), kNotModelled | kSaved,
           "Save a page with the answer, its pictures and the result in this file.", "none");
  rows.add("perfetto", "FILE", &AnswerConfig::perfetto, path_codec(), kNotModelled | kSaved,
           "Save a trace of the run for ui.perfetto.dev in this file.", "none");
  rows.add("json", "FILE", &AnswerConfig::json, path_codec(), kNotModelled | kSaved,
           "Save the result in this file. - prints it instead of the table.", "none");
}

}  // namespace loaderscope::settings
