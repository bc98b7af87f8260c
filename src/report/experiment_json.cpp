#include "report/experiment_json.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/old_words.h"
#include "experiment/axes.h"
#include "experiment/settings.h"
#include "loaderscope/errors.h"
#include "loaderscope/settings.h"
#include "report/describe.h"

namespace loaderscope {
namespace {

constexpr double kSmallest = 1e-9, kMaxSize = 1e15;

void describe_value(ResultVisitor& form, ResultVisitor::Name name, Estimate& estimate,
                    ResultVisitor::Sentence sentence) {
  form.object(
      name, sentence,
      [&] {
        form.real("mean", estimate.mean, "");
        form.row("ci95", "95 % interval, low and high", [&] {
          form.real("", estimate.low, "");
          form.real("", estimate.high, "");
        });
        const bool is_possible = (estimate.mean == 0 || estimate.mean >= kSmallest) &&
                                 estimate.low >= -kMaxSize && estimate.low <= estimate.mean &&
                                 estimate.mean <= estimate.high && estimate.high <= kMaxSize;
        if (!is_possible) form.refuse("is no value within its interval");
      },
      Lines::one);
}

void describe_account_of_run(ResultVisitor& form, Account& account) {
  form.object(
      "account", "mean over ranks; compute and all causes add up to the window",
      [&] {
        form.seconds("window_s", account.window, "length of the window");
        describe_stalls(form, account);
      },
      Lines::one);
}

void describe_sizes(ResultVisitor& form, CaseRun& run) {
  form.whole("resident_bytes", run.resident, "resident memory at its end");
  form.whole("slot_bytes", run.slots, "host slots of all ranks");
  form.whole("pinned_bytes", run.pinned, "of them page-locked");
  form.whole("shared_bytes", run.shared, "in shared memory");
  form.whole("worker_bytes", run.worker_bytes,
             "memory of one worker process with its part of what it shares; 0: not known");
}

void describe_reading(ResultVisitor& form, std::optional<CaseReadStats>& reading) {
  form.optional("reading", reading, AbsentValue::left_out, [&](CaseReadStats& read) {
    form.object(
        "reading", "of stored data",
        [&] {
          form.seconds("per_sample_s", read.per_sample, "that a worker took for a sample");
          form.real("in_flight", read.in_flight, "samples that were being read at a time",
                    {0, kMaxSize});
          form.real("requests", read.requests, "reads of a sample", {0, kMaxSize});
          form.real("touched", read.touched, "bytes read for each byte of samples", {0, kMaxSize});
        },
        Lines::one);
  });
}

void describe_run_of_case(ResultVisitor& form, CaseRun& run) {
  constexpr std::int64_t kLastRound = 1000;
  std::int64_t round = run.round;
  form.whole("round", round, "cases of a round ran one after another and drew the same samples",
             {0, kLastRound});
  describe_value(form, "samples_per_s", run.samples_per_s, "a mean and its 95 % interval");
  std::optional<Estimate> busy = run.has_busy ? std::optional(run.busy) : std::nullopt;
  describe_estimate(form, "busy", busy);
  form.whole("steps", run.steps, "measured, per rank", {.least = 1});
  form.whole("samples", run.samples, "of the window, over all ranks");
  form.optional("cpu_s", run.cpu_s, AbsentValue::null,
                [&](double& seconds) { form.real("cpu_s", seconds, "CPU time of the window"); });
  describe_sizes(form, run);
  describe_reading(form, run.reading);
  form.seconds("first_batch_s", run.first_batch, "from the first ask to the first batch");
  form.seconds("took_s", run.took, "with start and warm-up; virtual with the model");
  form.text("bound_by", run.bound_by, "compute or a cause; empty when it is not known");
  form.text("withheld_reason", run.withheld, "why there is no verdict; empty when there is one");
  describe_account_of_run(form, run.account);
  if (!form.reads()) return;
  run.round = static_cast<int>(round);
  run.has_busy = busy.has_value();
  run.busy = busy.value_or(Estimate{});
  if (run.cpu_s) run.cpu_s = std::clamp(*run.cpu_s, 0.0, kMaxSize);
}

bool is_of_base(const Field& field, const RunConfig& base) {
  return field.given(base) && !field.is_about(about::kSaved) && field.name != "require";
}

std::string join_texts(const std::vector<std::string>& texts) {
  return texts.empty() ? "not given" : shown_text(fmt::format("{}", fmt::join(texts, " ")));
}

std::vector<std::string> find_texts(const Entries<std::vector<std::string>>& entries,
                                    std::string_view key, std::vector<std::string> otherwise = {}) {
  for (const auto& [name, texts] : entries) {
    if (name == key) return texts;
  }
  return otherwise;
}

// Returns the texts of a setting; empty if it has no value.
std::vector<std::string> field_texts(const Field& field, const RunConfig& config) {
  if (field.repeats) return field.texts(config);
  std::string text = field.text(config);
  if (text.empty()) return {};
  return {std::move(text)};
}

bool is_resolved(const RunConfig& config) {
  static const RunConfig empty;
  const auto all = fields();
  return std::any_of(all.begin(), all.end(), [&](const Field& field) {
    return field_texts(field, config) != field_texts(field, empty);
  });
}

// Keys of a result that is read, as settings are named today.
template <class Value>
void rename_settings(ResultVisitor& form, Entries<Value>& entries) {
  if (!form.reads()) return;
  for (auto& [key, value] : entries) key = current_word(WordKind::setting, key);
}

// Throws as set_field() does.
void set_texts(RunConfig& config, const std::string& key, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) set_field(config, "the result", key, text);
}

}  // namespace

Given given_settings(const Experiment& experiment) {
  Given given;
  for (const Field& field : fields()) {
    if (is_of_base(field, experiment.base))
      given.base.emplace_back(field.name, field.texts(experiment.base));
  }
  for (const Axis& axis : experiment.axes) given.axes.emplace_back(axis.key, axis.values);
  given.one_at_a_time = experiment.one_at_a_time;
  return given;
}

void describe_given(ResultVisitor& form, Given& given) {
  const auto texts = [&](ResultVisitor::Name key, std::vector<std::string>& values) {
    form.texts(key, values, "", Lines::one);
  };
  form.entries("base", given.base, "what was given, by the name of its flag", texts);
  form.entries("axes", given.axes, "what was varied", texts);
  rename_settings(form, given.base);
  rename_settings(form, given.axes);
  form.flag("one_at_a_time", given.one_at_a_time, "one axis at a time instead of all combinations");
}

void take_given(ResultVisitor& form, const Given& given, Experiment& experiment) {
  try {
    for (const auto& [key, texts] : given.base) set_texts(experiment.base, key, texts);
    for (const auto& [key, values] : given.axes)
      experiment.axes.push_back(make_axis(key, values, "the result"));
  } catch (const UsageError& error) {
    form.refuse(std::string("has settings that cannot be: ") + error.what());
  }
  experiment.one_at_a_time = given.one_at_a_time;
}

std::string difference(const Given& there, const Given& here) {
  for (const Field& field : fields()) {
    const std::vector<std::string> saved = find_texts(there.base, field.name);
    const std::vector<std::string> given = find_texts(here.base, field.name);
    if (saved != given) {
      return fmt::format("{} is {} there and {} here", field.name, join_texts(saved),
                         join_texts(given));
    }
  }
  for (const auto& [key, values] : here.axes) {
    const std::vector<std::string> saved = find_texts(there.axes, key);
    if (saved != values) {
      return fmt::format("--vary {} is {} there and {} here", key, join_texts(saved),
                         join_texts(values));
    }
  }
  if (there.axes.size() != here.axes.size()) return "an axis is varied there and not here";
  if (there.one_at_a_time != here.one_at_a_time) return "--one-at-a-time is not the same";
  return "";
}

AxisValues axis_values(const Experiment& experiment, const Case& one) {
  AxisValues values;
  for (const Axis& axis : experiment.axes) {
    const std::string text = setting_text(one, axis.key);
    values.emplace_back(axis.key, text == "-" ? std::nullopt : std::optional(text));
  }
  return values;
}

void describe_values(ResultVisitor& form, AxisValues& values) {
  form.entries(
      "settings", values,
      "the value on each axis; null where it has no meaning, such as a prefetch factor without "
      "workers",
      [&](ResultVisitor::Name key, std::optional<std::string>& value) {
        form.optional(key, value, AbsentValue::null,
                      [&](std::string& text) { form.text(key, text, ""); });
      },
      {}, Lines::one);
  rename_settings(form, values);
}

RunConfig resolved_config(const Experiment& experiment) {
  for (const Case& one : experiment.cases) {
    if (is_resolved(one.config)) return one.config;
  }
  return {};
}

CaseSettings case_settings(const Case& one, const RunConfig& resolved) {
  CaseSettings settings;
  for (const Change& change : one.changes) settings.changes.emplace_back(change.key, change.value);
  if (!is_resolved(one.config)) return settings;
  settings.differing.emplace();
  for (const Field& field : fields()) {
    std::vector<std::string> texts = field_texts(field, one.config);
    if (texts != field_texts(field, resolved))
      settings.differing->emplace_back(field.name, std::move(texts));
  }
  return settings;
}

void describe_case_settings(ResultVisitor& form, CaseSettings& settings) {
  form.entries(
      "changes", settings.changes, "of the base case, on the axes",
      [&](ResultVisitor::Name key, std::string& value) { form.text(key, value, ""); }, {},
      Lines::one);
  rename_settings(form, settings.changes);
  form.optional("in_force", settings.differing, AbsentValue::left_out, [&](auto& differences) {
    form.entries(
        "in_force", differences,
        "settings with other values than config has; absent where the case cannot be",
        [&](ResultVisitor::Name key, std::vector<std::string>& texts) {
          form.texts(key, texts, "");
        },
        {}, Lines::one);
    rename_settings(form, differences);
  });
}

void take_settings(ResultVisitor& form, const CaseSettings& settings, const RunConfig& resolved,
                   Case& one) {
  try {
    for (const auto& [key, value] : settings.changes)
      one.changes.push_back(parse_change(key + "=" + value));
    if (!settings.differing) return;
    for (const Field& field : fields())
      set_texts(one.config, std::string(field.name),
                find_texts(*settings.differing, field.name, field_texts(field, resolved)));
    for (const Field& field : fields()) field.mark_given(one.config, field.given(resolved));
  } catch (const UsageError& error) {
    form.refuse(std::string("has settings that cannot be: ") + error.what());
  }
}

void describe_estimate(ResultVisitor& form, ResultVisitor::Name name,
                       std::optional<Estimate>& estimate) {
  form.optional(name, estimate, AbsentValue::null, [&](Estimate& value) {
    describe_value(form, name, value, "a mean and its 95 % interval; null when not measured");
  });
}

void describe_runs(ResultVisitor& form, std::vector<CaseRun>& runs) {
  constexpr std::size_t kMaxRuns = 1000;
  form.list("runs", runs, "one element per round",
            [&](CaseRun& run) { form.object("", "", [&] { describe_run_of_case(form, run); }); });
  if (runs.size() > kMaxRuns) form.refuse("has more than 1000 runs");
}

void describe_index(ResultVisitor& form, ResultVisitor::Name name,
                    std::optional<std::size_t>& index, ResultVisitor::Sentence sentence) {
  form.optional(name, index, AbsentValue::null, [&](std::size_t& value) {
    auto number = static_cast<std::int64_t>(value);
    form.whole(name, number, sentence);
    value = static_cast<std::size_t>(number);
  });
}

void describe_stops(ResultVisitor& form, Experiment& experiment) {
  form.flag("interrupted", experiment.interrupted, "stopped by a signal");
  form.flag("budget_spent", experiment.budget_spent, "the budget ended before the work");
}

void describe_data(ResultVisitor& form, Experiment& experiment) {
  form.list("data", experiment.data, "the data sets, where they are what varies",
            [&](DataFacts& facts) {
              form.object(
                  "", "",
                  [&] {
                    form.text("data", facts.data, "as the axis has it");
                    form.flag("packed", facts.is_packed, "many samples lie in one file");
                    form.whole("samples", facts.samples, "0: not known");
                    form.whole("disk_bytes", facts.disk, "that its files take, about");
                    form.seconds("index_s", facts.index,
                                 "until it is known where every sample lies, without an index "
                                 "that was kept");
                  },
                  Lines::one);
            });
  form.optional(
      "repacking", experiment.repacking, AbsentValue::left_out, [&](Repacking& repacking) {
        form.object(
            "repacking", "what it takes to make shards of the first data set",
            [&] {
              form.whole("samples", repacking.samples, "packed to measure it");
              form.seconds("took_s", repacking.took, "for them");
              form.seconds("of_all_s", repacking.all_samples, "that all samples would take");
            },
            Lines::one);
      });
}

void describe_notes(ResultVisitor& form, Experiment& experiment) {
  form.texts("notes", experiment.notes, "what a reader must know of the machine and the runs",
             Lines::one);
}

}  // namespace loaderscope
