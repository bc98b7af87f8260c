// A tune as JSON.
#include "experiment/case_statistics.h"
#include "experiment/settings.h"
#include "report/describe.h"
#include "report/experiment_json.h"
#include "report/kinds.h"

namespace loaderscope {
namespace {

// The settings in force that the user of a loader chooses.
struct LoaderChoice {
  std::int64_t workers = 0;
  std::optional<std::int64_t> prefetch;
  MemoryMode memory = MemoryMode::pageable;
  std::int64_t batch_size = 0, ranks = 0;
  Bytes slots = 0;
};

struct TunedRow {
  AxisValues values;
  CaseSettings settings;
  std::optional<LoaderChoice> choice;
  std::string not_run;
  bool refused = false;
  bool measured = false;
  std::optional<Estimate> samples_per_s, busy;
  std::vector<CaseRun> runs;
  std::optional<Forecast> predicted;
};

LoaderChoice loader_choice(const RunConfig& config) {
  LoaderChoice choice;
  choice.workers = config.loader.num_workers.value;
  if (config.loader.executor != Executor::inline_)
    choice.prefetch = config.loader.prefetch_factor.value;
  choice.memory = config.loader.memory;
  choice.batch_size = config.loader.batch_size.value;
  choice.ranks = config.trainer.ranks.value;
  choice.slots = case_price(config).slots;
  return choice;
}

std::vector<TunedRow> tuned_rows(const Tune& tune) {
  const std::vector<Case>& cases = tune.experiment.cases;
  const CaseStatistics judgement(cases);
  const RunConfig resolved = resolved_config(tune.experiment);
  std::vector<TunedRow> rows(cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& one = cases[i];
    TunedRow& row = rows[i];
    row.values = axis_values(tune.experiment, one);
    row.settings = case_settings(one, resolved);
    if (one.skipped.empty() || !one.runs.empty()) row.choice = loader_choice(one.config);
    row.not_run = one.skipped.empty() ? tune.candidates[i].refused : one.skipped;
    row.refused = one.skipped.empty() && !row.not_run.empty();
    row.measured = judgement.measured(i);
    if (row.measured) row.samples_per_s = judgement.rate(i);
    if (judgement.has_busy(i)) row.busy = judgement.busy(i);
    row.runs = one.runs;
    row.predicted = tune.candidates[i].predicted;
  }
  return rows;
}

void describe_choice(ResultVisitor& form, const LoaderChoice& choice) {
  form.shown("workers", choice.workers, "of a rank");
  form.shown("prefetch", choice.prefetch, "batches per worker; null without workers");
  form.shown_word("memory", name_of(choice.memory), enum_names<MemoryMode>(), "memory mode");
  form.shown("batch_size", choice.batch_size, "samples", {.least = 1});
  form.shown("ranks", choice.ranks, "trainers", {.least = 1});
  form.shown("slot_bytes", choice.slots, "host slots of all ranks");
}

void describe_forecast(ResultVisitor& form, std::optional<Forecast>& forecast) {
  form.optional("predicted", forecast, AbsentValue::null, [&](Forecast& value) {
    form.object(
        "predicted", "what the model says",
        [&] {
          form.real("samples_per_s", value.samples_per_s, "", kNotNegative);
          std::optional<double> busy = value.busy > 0 ? std::optional(value.busy) : std::nullopt;
          form.real_or_null("busy", busy, "null without a compute", kNotNegative);
          if (form.reads()) value.busy = busy.value_or(0);
        },
        Lines::one);
  });
}

void describe_measured(ResultVisitor& form, TunedRow& row) {
  form.object("measured", "null when it did not run", [&] {
    describe_estimate(form, "samples_per_s", row.samples_per_s);
    describe_estimate(form, "busy", row.busy);
    describe_runs(form, row.runs);
  });
}

void describe_tuned(ResultVisitor& form, TunedRow& row) {
  describe_values(form, row.values);
  describe_case_settings(form, row.settings);
  form.object_or_empty(
      "config", row.choice.has_value(), "the values in force; empty where there are none",
      [&] { describe_choice(form, row.choice.value_or(LoaderChoice{})); }, Lines::one);
  form.text_or_null("not_run", row.not_run,
                    "why it was not run, or failed; null also where it could not win");
  form.flag("refused", row.refused, "it would not fit; else not_run is why it failed");
  form.if_there("measured", row.measured, AbsentValue::null, [&] { describe_measured(form, row); });
  describe_forecast(form, row.predicted);
}

// `more()` shows further members.
template <class More>
void describe_chosen(ResultVisitor& form, ResultVisitor::Name name,
                     std::optional<std::size_t>& index, std::vector<TunedRow>& rows,
                     ResultVisitor::Sentence sentence, const More& more,
                     AbsentValue missing = AbsentValue::null) {
  form.if_there(name, index.has_value(), missing, [&] {
    TunedRow row = index ? rows[*index] : TunedRow{};
    form.object(name, sentence, [&] {
      auto number = static_cast<std::int64_t>(index.value_or(0));
      form.whole("case", number, "its index");
      if (form.reads()) index = static_cast<std::size_t>(number);
      describe_choice(form, row.choice.value_or(LoaderChoice{}));
      describe_values(form, row.values);
      describe_estimate(form, "samples_per_s", row.samples_per_s);
      describe_estimate(form, "busy", row.busy);
      more();
    });
  });
}

void describe_promise(ResultVisitor& form, Tune& tune) {
  const RunConfig config = !form.reads() && tune.recommended
                               ? tune.experiment.cases[*tune.recommended].config
                               : RunConfig{};
  form.flag("proven", tune.proven,
            "that it reaches the goal, with an error of 5 % over all cases together");
  form.flag("goal_reached", tune.goal_reached, "false: no case of the grid reaches it");
  form.real("probability", tune.probability, "a lower bound that it reaches the goal", kShare);
  const bool is_data_loader = is_for_data_loader(config);
  form.if_there("pytorch", is_data_loader, AbsentValue::left_out,
                [&] { form.shown("pytorch", data_loader_call(config), "the DataLoader call"); });
  form.if_there("dali", !is_data_loader, AbsentValue::left_out, [&] {
    form.shown("dali", dali_arguments(config), "the arguments of a DALI pipeline");
  });
}

void describe_goal(ResultVisitor& form, TuneGoal& goal) {
  std::optional<double> within = goal.busy ? std::nullopt : std::optional(goal.within);
  form.object(
      "goal", "what was asked for",
      [&] {
        form.real_or_null("within", within, "of the best rate", kShare);
        form.real_or_null("busy", goal.busy, "share of the window; instead", kShare);
      },
      Lines::one);
  if (within) goal.within = *within;
}

void describe_limit(ResultVisitor& form, Tune& tune) {
  form.object("limit", "what holds the recommended case back", [&] {
    form.text_or_null("bound_by", tune.limit, "compute or a cause");
    form.text_or_null("sentence", tune.limit_sentence, "the verdict on the recommended case");
    form.shown(
        "next_step",
        tune.next_step.empty() ? std::nullopt : std::optional(changes_to_text(tune.next_step)),
        "what would move it");
    describe_changes(form, tune.next_step, "the same, KEY=VALUE");
    describe_forecast(form, tune.after_next_step);
  });
}

void describe_beyond(ResultVisitor& form, BeyondGrid& beyond) {
  form.object("beyond",
              "a setting past the end of an axis, of which more is expected: the best of the grid "
              "is the best so far",
              [&] {
                Changes changes;
                if (!form.reads()) changes = {beyond.change};
                describe_changes(form, changes, "the setting, KEY=VALUE");
                if (form.reads() && changes.size() != 1) form.refuse("is not of one setting");
                if (!changes.empty()) beyond.change = changes.front();
                describe_forecast(form, beyond.predicted);
                form.text_or_null("left_out", beyond.left_out,
                                  "why it may not be run; null where the axis ends");
              });
}

void describe_shifts(ResultVisitor& form, Tune& tune) {
  const auto members = [&](ComputeShift& shift) {
    form.real("factor", shift.factor, "of the time of a step");
    describe_index(form, "case", shift.cheapest, "index of the cheapest that reaches the goal");
  };
  form.list("compute_shifts", tune.shifts, "how the answer changes with the compute, in the model",
            [&](ComputeShift& shift) {
              form.object(
                  "", "one other compute", [&] { members(shift); }, Lines::one);
            });
}

void describe_alone(ResultVisitor& form, AloneAnswer& alone) {
  form.object(
      "alone",
      "the answer for the machine without the other programs that ran meanwhile, by the model; "
      "null where they took less than a tenth of the cores",
      [&] {
        form.real("other_cores", alone.other_cores, "that they took", kNotNegative);
        describe_index(form, "case", alone.cheapest,
                       "index of the cheapest that reaches the goal; null where no model says");
        std::optional<double> rate =
            alone.cheapest ? std::optional(alone.samples_per_s) : std::nullopt;
        form.real_or_null("samples_per_s", rate, "with it", kNotNegative);
        if (form.reads()) alone.samples_per_s = rate.value_or(0);
      },
      Lines::one);
}

void describe_model_error(ResultVisitor& form, Tune& tune) {
  const auto members = [&] {
    double median = tune.error_median.value_or(0), worst = tune.error_worst.value_or(0);
    form.real("median", median, "of the cases that ran", kNotNegative);
    form.real("worst", worst, "of them", kNotNegative);
    if (!form.reads()) return;
    tune.error_median = median;
    tune.error_worst = worst;
  };
  form.if_there("model_error", tune.error_worst.has_value(), AbsentValue::null, [&] {
    form.object("model_error",
                "|predicted / measured - 1| of the rate; null where nothing was predicted", members,
                Lines::one);
  });
}

// TextReport.
void take_row(ResultVisitor& form, TunedRow& row, const RunConfig& resolved, Tune& tune) {
  Case& one = tune.experiment.cases.emplace_back();
  TunedCase& candidate = tune.candidates.emplace_back();
  take_settings(form, row.settings, resolved, one);
  one.runs = std::move(row.runs);
  (row.refused ? candidate.refused : one.skipped) = row.not_run;
  candidate.predicted = row.predicted;
}

void check_indexes(ResultVisitor& form, const Tune& tune) {
  const std::vector<Case>& cases = tune.experiment.cases;
  const auto check = [&](const std::optional<std::size_t>& index, bool must_have_run) {
    if (index && (*index >= cases.size() || (must_have_run && cases[*index].runs.empty())))
      form.refuse("names a case that it has not, or that did not run");
  };
  check(tune.best, true);
  check(tune.recommended, true);
  check(tune.now, true);
  if (tune.alone) check(tune.alone->cheapest, false);
  for (const ComputeShift& shift : tune.shifts) check(shift.cheapest, false);
}

}  // namespace

void describe_tune(ResultVisitor& form, Tune& tune) {
  std::vector<TunedRow> rows = tuned_rows(tune);
  Given given = given_settings(tune.experiment);
  RunConfig resolved = resolved_config(tune.experiment);
  describe_given(form, given);
  form.settings(resolved);
  describe_goal(form, tune.goal);
  describe_chosen(form, "best", tune.best, rows, "the highest measured rate", [] {});
  describe_chosen(
      form, "now", tune.now, rows, "the base case, as it is now", [] {}, AbsentValue::left_out);
  describe_chosen(form, "recommendation", tune.recommended, rows, "the setting to use",
                  [&] { describe_promise(form, tune); });
  form.optional("beyond", tune.beyond, AbsentValue::left_out,
                [&](BeyondGrid& beyond) { describe_beyond(form, beyond); });
  describe_limit(form, tune);
  describe_shifts(form, tune);
  form.optional("alone", tune.alone, AbsentValue::null,
                [&](AloneAnswer& alone) { describe_alone(form, alone); });
  describe_model_error(form, tune);
  form.seconds("spent_s", tune.experiment.spent, "all runs together");
  form.seconds("grid_s", tune.grid_time, "what two runs of each case would take");
  describe_stops(form, tune.experiment);
  form.flag("grid_spent", tune.grid_spent,
            "ended with work left, when it had taken as long as the plain grid would");
  form.list("cases", rows, "in the order of the grid", [&](TunedRow& row) {
    form.object("", "one setting", [&] { describe_tuned(form, row); });
  });
  describe_notes(form, tune.experiment);
  if (!form.reads()) return;
  take_given(form, given, tune.experiment);
  for (TunedRow& row : rows) take_row(form, row, resolved, tune);
  check_indexes(form, tune);
}

}  // namespace loaderscope
