#include "report/what_if_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/totals.h"
#include "analysis/wording.h"
#include "report/describe.h"
#include "report/text_report.h"
#include "report/text_table.h"

namespace loaderscope {
namespace {

// Shares of the window. A cause that is smaller in all cases has no row.
constexpr double kVisibleRow = 0.0005, kVisibleInShort = 0.005;

std::vector<const WhatIfCase*> shown_cases(const WhatIf& answer) {
  std::vector<const WhatIfCase*> cases;
  if (answer.measured) cases.push_back(&*answer.measured);
  cases.push_back(&answer.fitted);
  if (answer.predicted) cases.push_back(&*answer.predicted);
  if (answer.verified) cases.push_back(&*answer.verified);
  return cases;
}

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

std::string question(const WhatIf& answer) {
  return "Predicted with " +
         (answer.changes.empty() ? std::string("no change") : changes_to_text(answer.changes)) +
         ": ";
}

// "busy 25.0 % -> 50.0 %, 125 -> 250 samples/s (x2.00)"
std::string answer_line(const WhatIf& answer) {
  if (!answer.predicted)
    return question(answer) + "gain unknown, " + answer.why_not + "; measure it with --verify";
  const WhatIfCase& before = answer.measured ? *answer.measured : answer.fitted;
  const WhatIfCase& after = *answer.predicted;
  std::string text = question(answer);
  if (after.has_busy) {
    text += fmt::format("busy {} -> {}, ", format_percent(busy_share(before.account)),
                        format_percent(busy_share(after.account)));
  }
  text += fmt::format("{} -> {} samples/s (x{:.2f}", format_rate(before.samples_per_s),
                      format_rate(after.samples_per_s), answer.gain);
  if (answer.may_be_off > 0)
    text += fmt::format(", {:.2f} to {:.2f}", answer.gain * (1 - answer.may_be_off),
                        answer.gain * (1 + answer.may_be_off));
  return text + ")";
}

std::string trust_line(const WhatIf& answer) {
  std::string text = answer.fit ? answer.fit->sentence() : "";
  const std::string history = answer.history.sentence();
  if (!history.empty()) text += (text.empty() ? "" : "; ") + history;
  return text.empty() ? "" : capitalised(text);
}

std::string verified_line(const WhatIf& answer) {
  if (!answer.verified) return "";
  const double measured = answer.verified->samples_per_s;
  if (!answer.predicted) return fmt::format("Measured {} samples/s", format_rate(measured));
  const double predicted = answer.predicted->samples_per_s;
  return fmt::format("Measured {} samples/s, predicted {} (off by {:+.1f} %)",
                     format_rate(measured), format_rate(predicted),
                     100 * (ratio(predicted, measured) - 1));
}

template <class Value>
void add_row(TextTable& table, const std::string& name, const WhatIf& answer, const Value& value) {
  std::vector<std::string> row = {name};
  for (const WhatIfCase* each : shown_cases(answer)) row.push_back(value(*each));
  table.add(std::move(row));
}

void add_cases(TextReportBuilder& screen, const WhatIf& answer, const ReportStyle& style) {
  const double visible_from = style.verbose ? kVisibleRow : kVisibleInShort;
  std::vector<std::string> header = {answer.fitted.has_busy ? "step time" : "trainer waits for"};
  for (const WhatIfCase* each : shown_cases(answer)) header.push_back(each->name);
  TextTable table("lrrrr", header);
  add_row(table, "samples/s", answer,
          [](const WhatIfCase& c) { return format_rate(c.samples_per_s); });
  const auto add_share = [&](std::string_view name, const auto& part) {
    const auto cases = shown_cases(answer);
    const bool visible = std::any_of(cases.begin(), cases.end(), [&](const WhatIfCase* c) {
      return window_share(part(c->account), c->account) >= visible_from;
    });
    if (!visible) return;
    add_row(table, std::string(name), answer, [&](const WhatIfCase& c) {
      return format_percent(window_share(part(c.account), c.account));
    });
  };
  add_share("compute", [](const Account& a) { return a.compute; });
  for (const auto& word : Words<Cause>::table()) {
    add_share(shown_name(word.name), [&](const Account& a) { return a.stall[word.value]; });
  }
  screen.table(LinePriority::evidence, table);
}

void describe_column(ResultVisitor& form, WhatIfCase& one) {
  form.real("samples_per_s", one.samples_per_s, "rate, of all ranks", kNotNegative);
  std::optional<double> busy = one.has_busy ? std::optional(busy_share(one.account)) : std::nullopt;
  form.real_or_null("busy", busy,
                    "share of the window that the device computes; null without compute");
  if (form.reads()) one.has_busy = busy.has_value();
  form.seconds("window_s", one.account.window, "length, seconds");
  describe_stalls(form, one.account);
}

void describe_column(ResultVisitor& form, ResultVisitor::Name name,
                     std::optional<WhatIfCase>& column, ResultVisitor::Sentence sentence) {
  form.optional(name, column, AbsentValue::null, [&](WhatIfCase& one) {
    if (form.reads()) one.name = name;
    form.object(name, sentence, [&] { describe_column(form, one); });
  });
}

void describe_storage_value(ResultVisitor& form, StorageValue& value) {
  form.object("", "one word", [&] {
    form.text("key", value.key, "the word");
    form.real_or_null("now", value.now, "in the base case; null where it is not known",
                      kNotNegative);
    form.real("then", value.then, "as it was set", kNotNegative);
    form.text("unit", value.unit, "unit of both values, which is s, bytes/s or 1");
    form.text("meaning", value.meaning, "of the word");
    form.text("basis", value.basis,
              "source of `now`, and the part of the requests' time that stays as it is");
  });
}

void describe_storage(ResultVisitor& form, WhatIf& answer) {
  form.if_there("storage", !answer.storage.empty(), AbsentValue::left_out, [&] {
    form.list(
        "storage", answer.storage,
        "settings of the storage, compared with the base case; absent if no setting of it was "
        "given",
        [&](StorageValue& value) { describe_storage_value(form, value); });
  });
}

void describe_resident(ResultVisitor& form, WhatIf& answer) {
  form.optional("resident", answer.resident, AbsentValue::left_out, [&](ResidentGain& gain) {
    form.object("resident",
                "loading the data set into GPU memory; absent where no change does that", [&] {
                  form.real("load_s", gain.load_s, "before the first batch, seconds", kNotNegative);
                  form.real("saved_per_epoch_s", gain.saved_s, "seconds; negative: lost");
                  form.shown("pays_after_epochs", gain.epochs(),
                             "whole epochs until loading has paid; null: never");
                });
  });
}

void describe_gpu_work(ResultVisitor& form, GpuWork& work) {
  form.real("step_s", work.step_s, "time of the GPU per step for the loader, if it works alone",
            kNotNegative);
  form.real("share", work.share, "of it in the predicted step", kNotNegative);
  form.real_or_null("freed_cores", work.freed_cores,
                    "cores that the workers no longer need; null where it is not known",
                    kNotNegative);
  form.real("cores", work.cores, "of the run; 0 where it is not known", kNotNegative);
  form.optional("pays_up_to_workers", work.pays_up_to, AbsentValue::null,
                [&](std::int64_t& workers) {
                  form.whole("pays_up_to_workers", workers,
                             "the largest number with which it pays, at most `max_workers`; null "
                             "where it is not known");
                });
  form.whole("max_workers", work.max_workers, "largest number that was tried; 0: none");
  form.real("loss_beyond", work.loss_beyond, "of the rate with one more worker than that", kShare);
  form.real("own_stream_samples_per_s", work.own_stream_samples_per_s,
            "predicted rate with a stream of its own; 0 where it has one, or gains less than 1 %",
            kNotNegative);
  form.text("basis", work.basis, "source of the GPU's times; empty where they were given");
}

void describe_gpu(ResultVisitor& form, WhatIf& answer) {
  form.optional("gpu", answer.gpu, AbsentValue::left_out, [&](GpuWork& work) {
    form.object("gpu", "price of work that moves to the GPU; absent if none does",
                [&] { describe_gpu_work(form, work); });
  });
}

void describe_columns(ResultVisitor& form, WhatIf& answer) {
  describe_column(form, "measured", answer.measured,
                  "the base case as it was run; null without a result");
  answer.fitted.name = "fitted";
  form.object("fitted", "the base case in the model",
              [&] { describe_column(form, answer.fitted); });
  describe_column(form, "predicted", answer.predicted,
                  "the changed case: the measured one times the gain in the model; null where "
                  "`why_not` says why");
  describe_column(form, "verified", answer.verified,
                  "the changed case as it was run; null without --verify");
}

void describe_trust(ResultVisitor& form, WhatIf& answer) {
  form.optional("fit", answer.fit, AbsentValue::null, [&](GoodnessOfFit& fit) {
    form.object("fit", "how well the model gives back the base case; null without a result",
                [&] { describe_fit_errors(form, fit); });
  });
  describe_history(form, answer.history);
}

}  // namespace

WhatIfCase what_if_case(std::string name, const Prediction& prediction) {
  return {std::move(name), prediction.samples_per_s, prediction.has_busy(), prediction.account};
}

WhatIfCase what_if_case(std::string name, const Analysis& analysis) {
  return {std::move(name), analysis.samples_per_s.mean, analysis.has_busy, analysis.account};
}

WhatIfCase what_if_case(std::string name, const Prediction& prediction, const Analysis& measured) {
  const ScaledPrediction promise = scale_prediction(measured, prediction);
  WhatIfCase result = what_if_case(std::move(name), prediction);
  result.samples_per_s = promise.rate_after;
  if (result.has_busy && measured.has_busy)
    result.account = with_busy(result.account, promise.busy_after);
  return result;
}

void write_what_if_text(TextReport& reading, const WhatIf& answer, const ReportStyle& style) {
  TextReportBuilder& screen = reading.body;
  screen.wrapped_headline(answer_line(answer), LineTone::plain);
  for (const StorageValue& value : answer.storage)
    screen.line(LinePriority::advice, value.sentence());
  if (answer.resident)
    screen.line(LinePriority::advice, capitalised("it " + answer.resident->sentence()));
  if (answer.gpu) {
    for (const std::string& text :
         {answer.gpu->price_sentence(), answer.gpu->workers_sentence(),
          answer.gpu->own_stream_sentence(), answer.gpu->basis_sentence()})
      screen.line(LinePriority::advice, capitalised(text));
  }
  if (answer.memory) screen.line(LinePriority::advice, answer.memory->sentence());
  screen.line(LinePriority::advice, verified_line(answer));
  screen.line(LinePriority::advice, trust_line(answer));
  add_cases(screen, answer, style);
  for (const std::string& note : answer.notes) screen.note(LinePriority::basis, note);
  reading.more = "more with -vv: notes";
}

void describe_what_if(ResultVisitor& form, WhatIf& answer) {
  describe_changes(form, answer.changes, "what was set, KEY=VALUE");
  std::optional<double> gain = answer.predicted ? std::optional(answer.gain) : std::nullopt;
  form.real_or_null("gain", gain,
                    "predicted rate / rate of the base case; null where nothing is predicted",
                    kNotNegative);
  if (form.reads()) answer.gain = gain.value_or(1);
  form.if_there("at_most", answer.at_most, AbsentValue::left_out, [&] {
    form.flag("at_most", answer.at_most, "only of results of older versions: a bound");
  });
  form.if_there("may_be_off", answer.may_be_off > 0, AbsentValue::left_out, [&] {
    form.real("may_be_off", answer.may_be_off,
              "of the predicted rate, either way, as the notes say; absent where nothing says so",
              kShare);
  });
  form.if_there("why_not", !answer.why_not.empty(), AbsentValue::left_out, [&] {
    form.text("why_not", answer.why_not, "why nothing is predicted; absent where something is");
  });
  form.if_there("why_not_run", !answer.why_not_run.empty(), AbsentValue::left_out, [&] {
    form.text("why_not_run", answer.why_not_run,
              "why --verify cannot run the changes; absent where it can");
  });
  describe_storage(form, answer);
  describe_resident(form, answer);
  describe_gpu(form, answer);
  describe_memory(form, answer.memory, "of the workers with the changes; absent if that is little");
  describe_columns(form, answer);
  describe_trust(form, answer);
  form.texts("notes", answer.notes,
             "assumptions of the model, and how far the prediction goes beyond what was "
             "measured");
}

}  // namespace loaderscope
