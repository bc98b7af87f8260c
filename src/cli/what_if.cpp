// loaderscope what-if
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>

#include "analysis/findings/worker_memory.h"
#include "analysis/host_subset.h"
#include "cli/command.h"
#include "cli/command_flags.h"
#include "cli/config_flags.h"
#include "cli/measure.h"
#include "cli/output.h"
#include "cli/saved_result.h"
#include "experiment/prediction_history.h"
#include "job/interrupt.h"
#include "job/machine_profile.h"
#include "job/version_text.h"
#include "loaderscope/report.h"
#include "loaderscope/settings.h"
#include "machine/machine.h"
#include "predict/fitted_model.h"
#include "record/family_traits.h"
#include "report/results.h"
#include "report/what_if_report.h"
#include "source/cache_folder.h"

namespace loaderscope {
namespace {

struct WhatIfFlags {
  explicit WhatIfFlags(CLI::App& app) : base(app) {}

  std::string result, profile;
  std::vector<std::string> set;
  bool verify = false;
  DetailFlags detail;
  ConfigFlags base;  // settings if no result is given
};

void refuse_requirements(const RunConfig& given) {
  if (given.answer.require.given)
    throw UsageError("--require: is for a run", "look at the values that --json saves");
  if (given.answer.prove.given)
    throw UsageError("--prove: is for a run", "test a what-if with --verify");
}

// The base case as it was measured, if it was, and its model.
struct FittedBase {
  std::optional<RunRecord> record;
  std::unique_ptr<FittedModel> model;
  std::vector<std::string> profile_notes;  // about the machine's profile
};

// Adds the rates of the machine's profile to a record of this machine.
void add_rates_of_machine(const WhatIfFlags& flags, const MachineFacts& machine, FittedBase& base) {
  const bool is_here =
      base.record->machine.host == machine.host && base.record->machine.cpu == machine.cpu;
  if (is_here)
    add_known_rates(
        known_rates(flags.profile, machine, base.record->config.data, base.profile_notes),
        *base.record);
}

FittedBase fitted_base(const WhatIfFlags& flags, const RunConfig& given,
                       const MachineFacts& machine) {
  FittedBase base;
  refuse_requirements(given);
  if (flags.result.empty()) {
    base.model = std::make_unique<FittedModel>(given, MachineLimits{machine.cores});
    return base;
  }
  refuse_flags_with_result(given, "give what changes with --set");
  base.record = read_result(place_of_result(flags.result)).record;
  require_complete_job(*base.record, flags.result);
  add_rates_of_machine(flags, machine, base);
  base.model = std::make_unique<FittedModel>(*base.record);
  return base;
}

// Returns true if the cost of a sample on the machine does not change.
bool keeps_work(const Changes& changes) {
  constexpr std::string_view kWork[] = {"data",     "source",    "size",      "augment",
                                        "transfer", "cache",     "cache-dir", "access",
                                        "cores",    "dct-scale", "decode",    "augment-on"};
  return std::all_of(changes.begin(), changes.end(), [&](const Change& change) {
    return change.key.find('.') == std::string::npos &&
           std::find(std::begin(kWork), std::end(kWork), change.key) == std::end(kWork);
  });
}

// Compares the prediction with the ceilings of the measured machine.
void look_at_ceilings(const FittedBase& base, WhatIf& answer) {
  if (!base.record || !answer.predicted || !keeps_work(answer.changes)) return;
  answer.notes.insert(answer.notes.end(), base.profile_notes.begin(), base.profile_notes.end());
  const std::vector<MachineCeiling> ceilings = machine_ceilings(*base.record);
  if (ceilings.empty()) return;
  const std::string beyond = beyond_probed(ceilings, answer.predicted->samples_per_s);
  const std::string words = probed_words(ceilings);
  if (!beyond.empty()) {
    answer.notes.push_back(beyond);
  } else if (!words.empty()) {
    answer.notes.push_back("measured: " + words);
  }
}

// The reason why the prediction is not printed, by the rule for the findings of a run. "" if it is
// printed.
std::string why_not(const Analysis& measured, const GoodnessOfFit& fit,
                    const Prediction& predicted) {
  if (measured.verdict.withheld_reason)
    return "as the run has no verdict: " + *measured.verdict.withheld_reason;
  if (!fit.can_predict()) return "as the model is too far off the base case";
  return predicted.is_known() ? "" : "as it depends on costs that were not measured";
}

// Notes that the GPU of the run had too little free memory for the data set.
void note_short_memory(const RunRecord& record, const Prediction& predicted, WhatIf& answer) {
  const double free = value_of(record.metrics, metric::gpu_memory_free_bytes).value_or(0);
  const auto needed = static_cast<double>(predicted.held_bytes);
  if (free <= 0 || needed <= free / 2) return;
  answer.notes.push_back("the data set takes " + format_size(needed) +
                         " of GPU memory, and half of what was free is " + format_size(free / 2));
}

WhatIf predicted_answer(const FittedBase& base, const Changes& changes) {
  WhatIf answer;
  answer.changes = changes;
  const Prediction fitted = base.model->fitted();
  const Prediction predicted = base.model->predict(changes);
  answer.fitted = what_if_case("fitted", fitted);
  answer.gain = predicted.gain();
  answer.why_not_run = base.model->why_not_run(changes);
  answer.storage = base.model->storage_values(changes);
  answer.notes = base.model->notes();
  if (base.record) {
    const Analysis analysis = analyse(*base.record);
    answer.measured = what_if_case("measured", analysis);
    answer.fit = goodness_of_fit(analysis, fitted);
    answer.why_not = why_not(analysis, *answer.fit, predicted);
    if (answer.why_not.empty()) {
      answer.predicted = what_if_case("predicted", predicted, analysis);
      answer.may_be_off = predicted.may_be_off;
      answer.gpu = gpu_work(*base.model, &*base.record, &analysis, changes, predicted,
                            answer.predicted->samples_per_s);
    }
    note_short_memory(*base.record, predicted, answer);
    answer.memory = memory_of_loader(FindingInput(*base.record, analysis), predicted.config.loader);
    if (const std::string note = short_run_note(*base.record, analysis); !note.empty())
      answer.notes.push_back(note);
  } else {
    answer.predicted = what_if_case("predicted", predicted);
    answer.gpu = gpu_work(*base.model, nullptr, nullptr, changes, predicted,
                          answer.predicted->samples_per_s);
  }
  if (answer.predicted && fitted.held_bytes == 0) {
    const WhatIfCase& before = answer.measured ? *answer.measured : answer.fitted;
    answer.resident =
        resident_gain(predicted, before.samples_per_s, answer.predicted->samples_per_s);
  }
  answer.notes.insert(answer.notes.end(), predicted.notes.begin(), predicted.notes.end());
  return answer;
}

// The field of a setting and its alias, so that both count as one.
std::string name_of_change(const Change& change) {
  const Field* field = find_field(change.key);
  return field != nullptr ? std::string(field->name) : change.key;
}

// Refuses a second value for a setting that has only one.
Changes parse_changes(const std::vector<std::string>& texts) {
  Changes changes;
  for (const std::string& text : texts) {
    const Change change = parse_change(text);
    const Field* field = find_field(change.key);
    const auto earlier = std::find_if(changes.begin(), changes.end(), [&](const Change& one) {
      return name_of_change(one) == name_of_change(change);
    });
    if (earlier != changes.end() && (field == nullptr || !field->repeats))
      throw UsageError(fmt::format("--set {}: contradicts --set {}={}", shown_text(text),
                                   earlier->key, shown_text(earlier->value)),
                       "give one of the two");
    changes.push_back(change);
  }
  return changes;
}

ExitCode what_if(const WhatIfFlags& flags) {
  const RunConfig given = flags.base.config();
  const Changes changes = parse_changes(flags.set);
  OutputRules rules = flags.base.output_rules(given);
  rules.made_from.push_back(flags.result);
  check_places(result_places(given), "what-if", rules);
  const MachineFacts machine = read_machine();
  FittedBase base = fitted_base(flags, given, machine);
  const RunConfig to_run = flags.verify ? base.model->to_run(changes) : RunConfig();
  if (flags.verify && base.record) announce_saved_command(flags.result, to_run);

  WhatIf answer = predicted_answer(base, changes);
  look_at_ceilings(base, answer);
  const PredictionHistory history(source::user_cache_folder());
  answer.history = history.summary();
  const std::atomic<int>& stop_signal = catch_stop_signals();
  bool interrupted = false;
  if (flags.verify) {
    const RunRecord record = measure(to_run, machine, {}, stop_signal);
    const Analysis analysis = analyse(record);
    interrupted = record.interrupted;
    answer.verified = what_if_case("verified", analysis);
    if (!interrupted && !is_model_engine(record.engine) && answer.predicted)
      history.add(answer.predicted->samples_per_s, answer.verified->samples_per_s);
  }
  write_answer(result_places(given), make_result(answer, version_number()),
               answer_style(flags.detail));
  return interrupted ? exit_code_of_signal(stop_signal.load()) : ExitCode::ok;
}

}  // namespace

Action declare_what_if(CLI::App& app) {
  const auto flags = std::make_shared<WhatIfFlags>(app);
  app.add_option(
      "RESULT", flags->result,
      "A file that 'run --json FILE' saved. Without it, the flags below declare the base case.");
  app.add_option("--set", flags->set,
                 "Change a setting: KEY=VALUE of any flag, or STAGE.speed=X (2 is twice as fast). "
                 "Repeatable. More keys for storage, cache and threads are in 'loaderscope help "
                 "prediction'.")
      ->type_name("KEY=VALUE")
      ->take_all()
      ->expected(1);
  app.add_option("--machine", flags->profile, std::string(kMachineFlag.help))
      ->type_name("FILE")
      ->take_last();
  app.add_flag("--verify", flags->verify,
               "Run the changed configuration too, and print the error of the prediction.");
  add_detail(app, flags->detail);
  return [flags] { return what_if(*flags); };
}

}  // namespace loaderscope
