// Results of the analysis of a run.
#include <cmath>

#include "loaderscope/errors.h"
#include "loaderscope/settings.h"
#include "report/describe.h"
#include "report/next_command.h"

namespace loaderscope {
namespace {

const std::vector<std::string_view>& limits() {
  static const std::vector<std::string_view> words = [] {
    std::vector<std::string_view> all = enum_names<Cause>();
    all.insert(all.begin(), "compute");
    return all;
  }();
  return words;
}

void format_word_or_null(ResultVisitor& form, std::string_view name,
                         const std::optional<std::string>& word,
                         const std::vector<std::string_view>& words, std::string_view sentence) {
  form.if_there(name, word.has_value(), AbsentValue::null,
                [&] { form.shown_word(name, word.value_or(""), words, sentence); });
}

void format_causes(ResultVisitor& form, std::string_view name, std::vector<Cause> causes,
                   std::string_view sentence) {
  form.list(
      name, causes, sentence, [&](Cause& cause) { form.word("", cause, ""); }, Lines::one);
}

void describe_verdict(ResultVisitor& form, const Verdict& verdict) {
  form.object("verdict", "what limits the run", [&] {
    form.shown("sentence", verdict.sentence, "the answer in one line");
    format_word_or_null(form, "bound_by", verdict.bound_by, limits(),
                        "the limit; null when it is withheld or several causes may be it");
    format_word_or_null(
        form, "severity", verdict.severity, {"none", "moderate", "high"},
        "by the share of stall: below 5 %, below 20 %, from 20 %; null when withheld "
        "or without compute");
    form.shown("withheld_reason", verdict.withheld_reason,
               "why there is no verdict, with the next step; null when there is one");
    format_causes(form, "candidates", verdict.candidates,
                  "the leading cause and those that may be as large");
    form.shown("no_gain", verdict.no_gain, "leaving out the candidates gives nothing");
    form.shown("together", verdict.together,
               "leaving out one of the candidates gives nothing, only all of them");
    const auto hidden = verdict.hidden ? std::optional(std::string(name_of(*verdict.hidden)))
                                       : std::optional<std::string>();
    form.shown("hidden", hidden,
               "the largest cause of the account, where something else sets the pace; else null");
  });
}

void describe_removals(ResultVisitor& form, RemovalGains& removals) {
  form.object("removals", "what leaving out a cause would give; the verdict is chosen by it", [&] {
    form.shown_word("basis", name_of(removals.basis), {"account", "critical-path", "model"},
                    "how the gain was found: by leaving the cause out of the fitted model, by "
                    "its length of the critical path, or by its share of the account");
    form.list("list", removals.list, "what saves most first", [&](Removal& removal) {
      form.object(
          "", "",
          [&] {
            format_causes(form, "without", removal.causes, "causes that are left out together");
            form.real("saves", removal.saves, "of the window that the same samples would take less",
                      kShare);
          },
          Lines::one);
    });
  });
}

void format_predicted(ResultVisitor& form, double rate, double busy) {
  form.shown("samples_per_s", rate, "rate, of all ranks", kNotNegative);
  form.shown("busy", busy > 0 ? std::optional(busy) : std::nullopt,
             "share of the window; null without compute", kNotNegative);
}

void format_figures(ResultVisitor& form, const Finding& finding) {
  form.if_there("predicted", finding.has_figures(), AbsentValue::null, [&] {
    form.object(
        "predicted",
        "with the changes: the measured rate times the gain in the model; null where "
        "nothing can be predicted",
        [&] {
          format_predicted(form, finding.rate_after, finding.busy_after);
          form.if_there("may_be_off", finding.may_be_off > 0, AbsentValue::left_out, [&] {
            form.shown("may_be_off", finding.may_be_off,
                       "error of the rate in both directions, as a share: it depends on what "
                       "was measured under less load",
                       kShare);
          });
          form.object("base", "the run as it was measured",
                      [&] { format_predicted(form, finding.rate_before, finding.busy_before); });
        });
  });
  form.if_there("regained_s", finding.has_figures(), AbsentValue::null, [&] {
    form.shown_seconds("regained_s", std::llround(finding.regained_s * 1e9),
                       "of the window, that the same samples would take less, seconds; null where "
                       "nothing can be predicted",
                       kAnyTime);
  });
}

void describe_finding(ResultVisitor& form, const RunConfig& config, Finding& finding) {
  form.object("", "", [&] {
    form.shown("id", std::string(finding.id),
               "name of the finding, see 'loaderscope list finding'");
    form.shown("wrong_data", finding.wrong_data,
               "the training is given wrong data: worse than any waiting, and found without a "
               "verdict too");
    form.shown("evidence", finding.evidence, "a sentence with the figures that support it");
    form.shown("advice", finding.pytorch, "what to write in a PyTorch program");
    const auto command = finding.has_setting() ? std::optional(command_for(config, finding.to_run))
                                               : std::optional<std::string>();
    form.shown("command", command,
               "a line for a shell that tries it; null where it is not about a setting");
    const bool for_reader = finding.fixed_by == FixedBy::reader;
    form.shown_word("mended_by", for_reader ? "reader" : "administrator",
                    {"reader", "administrator"},
                    "the role that can apply the fix: the user who starts the training, or an "
                    "administrator of the machine");
    describe_memory(form, finding.memory,
                    "of the workers that it asks for; absent if that is little");
    form.shown("waited", finding.waited,
               "share of the window that is waited on its account; 0 where it is not about waiting",
               kNotNegative);
    describe_changes(form, finding.changes, "settings that fix it, KEY=VALUE as in --set");
    format_figures(form, finding);
  });
}

void describe_fit(ResultVisitor& form, Analysis& analysis, GoodnessOfFit& fit) {
  form.object(
      "fit", "how well the model of the findings reproduces the run; absent without findings", [&] {
        describe_fit_errors(form, fit);
        form.texts("notes", analysis.fit_notes, "assumptions of the fit");
        describe_history(form, analysis.past);
      });
}

void describe_depth(ResultVisitor& form, RequiredPrefetchDepth& depth) {
  form.object(
      "depth",
      "how far ahead batches must be made, by the model; absent without findings, compute or "
      "workers, and for steps of very many samples",
      [&] {
        form.text("setting", depth.setting, "the setting that says how far ahead");
        form.real("ready_now", depth.ready_now,
                  "share of the steps that find their batch ready, the first of an epoch aside",
                  kShare);
        form.shown("ready_999", depth.enough,
                   "the smallest value that makes 99.9 % of the steps ready; null when none is");
        const auto memory =
            depth.enough ? std::optional(depth.memory) : std::optional<std::int64_t>();
        form.shown("memory_bytes", memory, "host slots of all ranks with it");
        form.whole("steps", depth.steps, "modelled steps of each rank that were looked at");
      });
}

void describe_what_it_takes(ResultVisitor& form, TargetOptions& takes) {
  form.object(
      "what_it_takes",
      "the least of each thing that keeps the GPU busy, all else as it is, by the model; absent "
      "without findings or compute, where the GPU is busy enough, and where no stage of the "
      "workers is waited for",
      [&] {
        form.real("busy", takes.busy, "share of the window that is wanted", kShare);
        form.list("ways", takes.ways, "each alone does", [&](TargetOption& way) {
          form.object(
              "", "",
              [&] {
                form.text("what", way.what,
                          "num-workers, cores (with a worker on each), storage-latency or "
                          "STAGE.speed");
                describe_changes(form, way.changes,
                                 "how much of it; none where none that was tried is enough");
                const auto busy =
                    way.changes.empty() ? std::optional<double>() : std::optional(way.busy_after);
                form.shown("busy", busy, "share of the window with the changes; null without");
              },
              Lines::one);
        });
      });
}

void describe_cost(ResultVisitor& form, IdleCost& waste) {
  form.object(
      "cost",
      "what the waiting costs; absent without compute, and of a program in which no GPU was seen "
      "without --gpu-price",
      [&] {
        form.real("gpu_hours_lost_per_day", waste.gpu_hours_per_day,
                  "GPU-hours of waiting in 24 hours, of all ranks", kNotNegative);
        form.shown("per_day", waste.price_per_day, "at --gpu-price; null when it was not given");
      });
}

}  // namespace

void format_interval(ResultVisitor& form, std::string_view name, const Estimate& estimate,
                     std::string_view sentence) {
  form.row(name, sentence, [&] {
    form.shown("", estimate.low, "low");
    form.shown("", estimate.high, "high");
  });
}

void describe_changes(ResultVisitor& form, Changes& changes, std::string_view sentence) {
  form.list(
      "changes", changes, sentence,
      [&](Change& change) {
        std::string text = form.reads() ? "" : change.key + "=" + change.value;
        form.text("", text, "");
        if (!form.reads()) return;
        try {
          change = parse_change(text);
        } catch (const UsageError& error) {
          form.refuse(std::string("has something that is no setting: ") + error.what());
        }
      },
      Lines::one);
}

void describe_fit_errors(ResultVisitor& form, GoodnessOfFit& fit) {
  form.real("rate_error", fit.rate_error, "predicted rate / measured rate - 1");
  form.text("worst_part", fit.worst_part, "compute or the cause with the largest difference");
  form.real("worst_share", fit.worst_share, "that difference, predicted - measured, of the window");
}

void describe_history(ResultVisitor& form, PastPredictions& past) {
  form.object("history", "the latest predictions on this machine that were run, at most 20", [&] {
    form.whole("count", past.count, "how many there are");
    form.real("median", past.median, "median of |predicted rate / measured rate - 1|",
              kNotNegative);
    form.real("worst", past.worst, "the largest of them", kNotNegative);
  });
}

void describe_answer(ResultVisitor& form, const RunConfig& config, Analysis& analysis) {
  describe_verdict(form, analysis.verdict);
  describe_removals(form, analysis.removals);
  form.list("findings", analysis.findings,
            "root causes: wrong data first, then those that give back most",
            [&](Finding& finding) { describe_finding(form, config, finding); });
  form.optional("fit", analysis.fit, AbsentValue::left_out,
                [&](GoodnessOfFit& fit) { describe_fit(form, analysis, fit); });
  form.optional("depth", analysis.depth, AbsentValue::left_out,
                [&](RequiredPrefetchDepth& depth) { describe_depth(form, depth); });
  form.optional("what_it_takes", analysis.what_it_takes, AbsentValue::left_out,
                [&](TargetOptions& takes) { describe_what_it_takes(form, takes); });
}

void describe_memory(ResultVisitor& form, std::optional<WorkerMemory>& memory,
                     std::string_view sentence) {
  form.optional("memory", memory, AbsentValue::left_out, [&](WorkerMemory& known) {
    form.object("memory", sentence, [&] {
      form.whole("workers", known.workers, "of all ranks of a host");
      form.real("needed_bytes", known.needed, "by all of them", kNotNegative);
      form.real("more_bytes", known.more, "part of it that is not in use yet", kNotNegative);
      form.real("free_bytes", known.free, "free for it; 0: not known", kNotNegative);
      form.flag("shared", known.is_shared, "the bytes are of /dev/shm");
      form.flag("bound", known.is_bound, "no worker was measured: they need at most this");
      form.flag("limit", known.is_limit, "more workers would not fit");
    });
  });
}

void describe_waste(ResultVisitor& form, Analysis& analysis) {
  form.optional("cost", analysis.waste, AbsentValue::left_out,
                [&](IdleCost& waste) { describe_cost(form, waste); });
}

}  // namespace loaderscope
