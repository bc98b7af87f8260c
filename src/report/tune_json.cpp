// A tune as JSON.
#include <cmath>

#include "experiment/judgement.h"
#include "experiment/settings.h"
#include "report/experiment_json.h"
#include "report/tune_report.h"

namespace loaderscope {
namespace {

void write_guess(JsonStream& json, std::string_view key, const std::optional<Guess>& guess) {
  if (!guess) return json.null(key);
  json.begin_object(key, kCompact);
  json.member("samples_per_s", guess->samples_per_s);
  json.member("busy", guess->busy > 0 ? guess->busy : std::nan(""));
  json.end_object();
}

void write_measured(JsonStream& json, const Case& one, const Judgement& judgement, std::size_t i) {
  if (!judgement.measured(i)) return json.null("measured");
  json.begin_object("measured");
  write_estimate(json, "samples_per_s", judgement.rate(i));
  write_estimate(json, "busy",
                 judgement.has_busy(i) ? std::optional(judgement.busy(i)) : std::nullopt);
  write_runs(json, one);
  json.end_object();
}

// The settings in force that the user of a loader chooses.
void write_choice(JsonStream& json, const RunConfig& config) {
  const bool is_inline = config.executor == Executor::inline_;
  json.member("workers", config.num_workers.value);
  if (is_inline) {
    json.null("prefetch");
  } else {
    json.member("prefetch", config.prefetch_factor.value);
  }
  json.member("memory", name_of(config.memory.value));
  json.member("batch_size", config.batch_size.value);
  json.member("ranks", config.ranks.value);
  json.member("slot_bytes", price_of(config).slots);
}

void write_case(JsonStream& json, const Tune& tune, const Judgement& judgement, std::size_t i) {
  const Case& one = tune.experiment.cases[i];
  json.begin_object();
  write_settings(json, tune.experiment, one);
  json.begin_object("config", kCompact);
  if (one.skipped.empty() || !one.runs.empty()) write_choice(json, one.config);
  json.end_object();
  write_text(json, "not_run", one.skipped.empty() ? tune.candidates[i].refused : one.skipped);
  write_measured(json, one, judgement, i);
  write_guess(json, "predicted", tune.candidates[i].predicted);
  json.end_object();
}

void write_chosen(JsonStream& json, std::string_view key, const Tune& tune,
                  const Judgement& judgement, const std::optional<std::size_t>& i) {
  if (!i) return json.null(key);
  const Case& one = tune.experiment.cases[*i];
  json.begin_object(key);
  json.member("case", static_cast<std::int64_t>(*i));
  write_choice(json, one.config);
  write_settings(json, tune.experiment, one);
  write_estimate(json, "samples_per_s", judgement.rate(*i));
  write_estimate(json, "busy",
                 judgement.has_busy(*i) ? std::optional(judgement.busy(*i)) : std::nullopt);
  if (key == "recommendation") {
    json.member("proven", tune.proven);
    json.member("goal_reached", tune.goal_reached);
    json.member("probability", tune.probability);
    json.member("pytorch", std::string_view(data_loader_call(one.config)));
    json.member("dali", std::string_view(dali_arguments(one.config)));
  }
  json.end_object();
}

void write_goal(JsonStream& json, const TuneGoal& goal) {
  json.begin_object("goal", kCompact);
  json.member("within", goal.busy ? std::nan("") : goal.within);
  json.member("busy", goal.busy.value_or(std::nan("")));
  json.end_object();
}

void write_limit(JsonStream& json, const Tune& tune) {
  json.begin_object("limit");
  write_text(json, "bound_by", tune.limit);
  write_text(json, "sentence", tune.limit_sentence);
  write_text(json, "next_step", spell_changes(tune.next_step));
  write_guess(json, "predicted", tune.after_next_step);
  json.end_object();
}

void write_alone(JsonStream& json, const Tune& tune) {
  if (!tune.alone) return json.null("alone");
  json.begin_object("alone", kCompact);
  json.member("other_cores", tune.alone->other_cores);
  if (tune.alone->cheapest) {
    json.member("case", static_cast<std::int64_t>(*tune.alone->cheapest));
    json.member("samples_per_s", tune.alone->samples_per_s);
  } else {
    json.null("case");
    json.null("samples_per_s");
  }
  json.end_object();
}

void write_shifts(JsonStream& json, const Tune& tune) {
  json.begin_array("compute_shifts");
  for (const ComputeShift& shift : tune.shifts) {
    json.begin_object({}, kCompact);
    json.member("factor", shift.factor);
    if (shift.cheapest) {
      json.member("case", static_cast<std::int64_t>(*shift.cheapest));
    } else {
      json.null("case");
    }
    json.end_object();
  }
  json.end_array();
}

}  // namespace

void write_tune_json(std::ostream& out, const Tune& tune, std::string_view tool_version) {
  const Judgement judgement(tune.experiment.cases);
  JsonStream json(out);
  json.begin_object();
  json.member("schema", "loaderscope.tune/1");
  json.begin_object("tool");
  json.member("version", tool_version);
  json.end_object();
  write_base(json, tune.experiment);
  write_goal(json, tune.goal);
  write_chosen(json, "best", tune, judgement, tune.best);
  write_chosen(json, "recommendation", tune, judgement, tune.recommended);
  write_limit(json, tune);
  write_shifts(json, tune);
  write_alone(json, tune);
  if (tune.error_worst) {
    json.begin_object("model_error", kCompact);
    json.member("median", *tune.error_median);
    json.member("worst", *tune.error_worst);
    json.end_object();
  } else {
    json.null("model_error");
  }
  json.member("spent_s", Seconds{tune.experiment.spent});
  json.member("grid_s", Seconds{tune.grid_time});
  json.member("interrupted", tune.experiment.interrupted);
  json.member("budget_spent", tune.experiment.budget_spent);
  json.member("grid_spent", tune.grid_spent);
  json.begin_array("cases");
  for (std::size_t i = 0; i < tune.experiment.cases.size(); ++i)
    write_case(json, tune, judgement, i);
  json.end_array();
  write_texts(json, "notes", tune.experiment.notes);
  json.end_object();
}

}  // namespace loaderscope
