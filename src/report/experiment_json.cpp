#include "report/experiment_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiment/settings.h"
#include "loaderscope/errors.h"
#include "loaderscope/settings.h"
#include "report/record_parts.h"

namespace loaderscope {
namespace {

void write_account(JsonStream& json, const Account& account) {
  json.begin_object("account", kCompact);
  json.member("window_s", Seconds{account.window});
  json.member("compute_s", Seconds{account.compute});
  json.begin_object("stall_s");
  for (const auto& word : Words<Cause>::table())
    json.member(word.name, Seconds{account.stall[word.value]});
  json.end_object();
  json.end_object();
}

void write_run(JsonStream& json, const CaseRun& run) {
  json.begin_object();
  json.member("round", std::int64_t{run.round});
  write_estimate(json, "samples_per_s", run.samples_per_s);
  write_estimate(json, "busy", run.has_busy ? std::optional(run.busy) : std::nullopt);
  json.member("steps", run.steps);
  json.member("samples", run.samples);
  json.member("cpu_s", run.cpu_s.value_or(std::nan("")));
  json.member("resident_bytes", run.resident);
  json.member("slot_bytes", run.slots);
  json.member("pinned_bytes", run.pinned);
  json.member("shared_bytes", run.shared);
  json.member("worker_bytes", run.of_worker);
  json.member("first_batch_s", Seconds{run.first_batch});
  json.member("took_s", Seconds{run.took});
  json.member("bound_by", std::string_view(run.bound_by));
  json.member("withheld_reason", std::string_view(run.withheld));
  write_account(json, run.account);
  json.end_object();
}

// Bounds within which a thousand runs can be added up.
constexpr Nanos kLongestTime = Nanos{1} << 50;              // 13 days
constexpr std::int64_t kMostOfRun = std::int64_t{1} << 50;  // steps, samples, bytes
constexpr double kSmallest = 1e-9, kLargest = 1e15;

std::optional<Estimate> read_estimate(const JsonCursor& json) {
  if (json.is_null()) return std::nullopt;
  const JsonCursor interval = json.at("ci95");
  interval.expect_array(2);
  const Estimate estimate{json.at("mean").real(), interval.item(0).real(), interval.item(1).real()};
  const bool is_possible = (estimate.mean == 0 || estimate.mean >= kSmallest) &&
                           estimate.low >= -kLargest && estimate.low <= estimate.mean &&
                           estimate.mean <= estimate.high && estimate.high <= kLargest;
  if (!is_possible) json.fail("is no value within its interval");
  return estimate;
}

Nanos time_at(const JsonCursor& json, std::string_view key) {
  return json.at(key).seconds(0, kLongestTime);
}

std::int64_t count_at(const JsonCursor& json, std::string_view key) {
  return json.at(key).count(kMostOfRun);
}

Account read_account(const JsonCursor& json) {
  Account account;
  account.window = time_at(json, "window_s");
  account.compute = time_at(json, "compute_s");
  const JsonCursor stall = json.at("stall_s");
  for (const auto& word : Words<Cause>::table())
    account.stall[word.value] = time_at(stall, word.name);
  return account;
}

CaseRun read_run(const JsonCursor& json) {
  CaseRun run;
  run.round = static_cast<int>(json.at("round").integer(0, 1000));
  run.samples_per_s = read_estimate(json.at("samples_per_s")).value_or(Estimate{});
  const std::optional<Estimate> busy = read_estimate(json.at("busy"));
  run.has_busy = busy.has_value();
  run.busy = busy.value_or(Estimate{});
  run.steps = json.at("steps").integer(1, kMostOfRun);
  run.samples = count_at(json, "samples");
  if (!json.at("cpu_s").is_null()) run.cpu_s = std::clamp(json.at("cpu_s").real(), 0.0, kLargest);
  run.resident = count_at(json, "resident_bytes");
  run.slots = count_at(json, "slot_bytes");
  run.pinned = count_at(json, "pinned_bytes");
  run.shared = count_at(json, "shared_bytes");
  run.of_worker = count_at(json, "worker_bytes");
  run.first_batch = time_at(json, "first_batch_s");
  run.took = time_at(json, "took_s");
  run.bound_by = json.at("bound_by").text();
  run.withheld = json.at("withheld_reason").text();
  run.account = read_account(json.at("account"));
  return run;
}

bool is_of_base(const Field& field, const RunConfig& base) {
  return field.given(base) && field.name != "json" && field.name != "require";
}

std::string in_words(const std::vector<std::string>& texts) {
  return texts.empty() ? "not given" : shown_text(fmt::format("{}", fmt::join(texts, " ")));
}

std::vector<std::string> texts_of(const JsonCursor& object, std::string_view key) {
  if (!object.has(key)) return {};
  const JsonCursor texts = object.at(key);
  return read_texts(texts);
}

std::string difference_of_base(const JsonCursor& saved, const RunConfig& base) {
  for (const Field& field : fields()) {
    const std::vector<std::string> here =
        is_of_base(field, base) ? field.texts(base) : std::vector<std::string>();
    const std::vector<std::string> there = texts_of(saved, field.name);
    if (here != there)
      return fmt::format("{} is {} there and {} here", field.name, in_words(there), in_words(here));
  }
  return "";
}

}  // namespace

void write_estimate(JsonStream& json, std::string_view key, const std::optional<Estimate>& value) {
  if (!value) return json.null(key);
  json.begin_object(key, kCompact);
  json.member("mean", value->mean);
  json.begin_array("ci95");
  json.element(value->low);
  json.element(value->high);
  json.end_array();
  json.end_object();
}

void write_texts(JsonStream& json, std::string_view key, const std::vector<std::string>& texts) {
  json.begin_array(key, kCompact);
  for (const std::string& text : texts) json.element(std::string_view(text));
  json.end_array();
}

void write_base(JsonStream& json, const Experiment& experiment) {
  json.begin_object("base");
  for (const Field& field : fields()) {
    if (is_of_base(field, experiment.base))
      write_texts(json, field.name, field.texts(experiment.base));
  }
  json.end_object();
  json.begin_object("axes");
  for (const Axis& axis : experiment.axes) write_texts(json, axis.key, axis.values);
  json.end_object();
  json.member("one_at_a_time", experiment.one_at_a_time);
}

void write_settings(JsonStream& json, const Experiment& experiment, const Case& one) {
  json.begin_object("settings", kCompact);
  for (const Axis& axis : experiment.axes) {
    const std::string text = setting_text(one, axis.key);
    if (text == "-") {
      json.null(axis.key);
    } else {
      json.member(axis.key, std::string_view(text));
    }
  }
  json.end_object();
}

void write_changes(JsonStream& json, const Case& one) {
  json.begin_object("changes", kCompact);
  for (const Change& change : one.changes) json.member(change.key, std::string_view(change.value));
  json.end_object();
}

void write_runs(JsonStream& json, const Case& one) {
  json.begin_array("runs");
  for (const CaseRun& run : one.runs) write_run(json, run);
  json.end_array();
}

std::vector<CaseRun> read_runs(const JsonCursor& one) {
  const JsonCursor runs = one.at("runs");
  runs.expect_array();
  constexpr std::size_t kMostRuns = 1000;
  if (runs.size() > kMostRuns) runs.fail("has more than 1000 runs");
  std::vector<CaseRun> result;
  for (std::size_t i = 0; i < runs.size(); ++i) result.push_back(read_run(runs.item(i)));
  return result;
}

std::string difference(const JsonCursor& saved, const Experiment& experiment) {
  const JsonCursor base = saved.at("base");
  base.expect_object();
  const std::string of_base = difference_of_base(base, experiment.base);
  if (!of_base.empty()) return of_base;
  const JsonCursor axes = saved.at("axes");
  axes.expect_object();
  for (const Axis& axis : experiment.axes) {
    const std::vector<std::string> there = texts_of(axes, axis.key);
    if (there != axis.values) {
      return fmt::format("--vary {} is {} there and {} here", axis.key, in_words(there),
                         in_words(axis.values));
    }
  }
  if (axes.size() != experiment.axes.size()) return "an axis is varied there and not here";
  if (saved.at("one_at_a_time").boolean() != experiment.one_at_a_time)
    return "--one-at-a-time is not the same";
  return "";
}

}  // namespace loaderscope
