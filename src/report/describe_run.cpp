// The result of a run as a whole, in the order in which it is written.
#include <cmath>

#include "analysis/contention.h"
#include "analysis/totals.h"
#include "base/old_words.h"
#include "record/family_traits.h"
#include "report/describe.h"
#include "report/table_parts.h"

namespace loaderscope {
namespace {

void describe_head(ResultVisitor& form, RunRecord& record, const Analysis& analysis) {
  form.text("engine", record.engine, "engine that made the facts");
  if (form.reads()) record.engine = std::string(current_word(WordKind::engine, record.engine));
  form.flag("simulated", record.simulated, "the device or the time is not real");
  form.flag("interrupted", record.interrupted, "stopped from outside before its end");
  form.flag("input_ended_in_warmup", record.input_ended_in_warmup,
            "the data ended inside the warm-up, so the whole run is the window");
  form.object("machine", "where it ran; of a job over several hosts the first",
              [&] { describe_machine(form, record.machine); });
  describe_hosts(form, record, analysis);
  form.settings(record.config);
}

std::optional<std::int64_t> known_samples(const RunRecord& record, const Analysis& analysis) {
  const bool is_known = per_second(record, &RankRecord::samples).has_value();
  return is_known ? std::optional(analysis.samples) : std::nullopt;
}

void format_window(ResultVisitor& form, const RunRecord& record, const Analysis& analysis) {
  form.object("window", "the measured window, mean over ranks", [&] {
    form.shown_seconds("wall_s", analysis.account.window, "length, seconds");
    form.shown("steps", analysis.steps, "measured steps per rank, the fewest of any");
    form.shown("samples", known_samples(record, analysis),
               "measured samples of all ranks; null if the number in a batch is not known");
    form.shown("steady", analysis.steady, "shown to keep its level");
  });
}

void format_rates(ResultVisitor& form, const RunRecord& record, const Analysis& analysis) {
  form.object("throughput", "rates over the window, sums over ranks", [&] {
    const bool is_known = per_second(record, &RankRecord::samples).has_value();
    form.object("samples_per_s", "samples per second; null if samples were not counted", [&] {
      form.if_there("mean", is_known, AbsentValue::null, [&] {
        form.shown("mean", analysis.samples_per_s.mean, "per second", kNotNegative);
      });
      form.if_there("ci95", is_known, AbsentValue::null, [&] {
        format_interval(form, "ci95", analysis.samples_per_s, "95 % interval, per second");
      });
    });
    form.shown("read_bytes_per_s", per_second(record, &RankRecord::read_bytes),
               "stored bytes per second; null if they were not counted", kNotNegative);
    form.shown("delivered_bytes_per_s", per_second(record, &RankRecord::delivered_bytes),
               "bytes to the device per second; null if they were not counted", kNotNegative);
  });
}

void format_device(ResultVisitor& form, const Analysis& analysis) {
  const auto if_busy = [&](std::string_view name, const auto& value) {
    form.if_there(name, analysis.has_busy, AbsentValue::null, value);
  };
  form.object("device", "the GPU, mean over ranks; null without compute", [&] {
    if_busy("busy", [&] {
      form.shown("busy", analysis.busy.mean, "share of the window in which it computes", kShare);
    });
    if_busy("ci95", [&] { format_interval(form, "ci95", analysis.busy, "95 % interval of busy"); });
    if_busy("busy_s",
            [&] { form.shown_seconds("busy_s", analysis.account.compute, "computing, seconds"); });
    if_busy("idle_s",
            [&] { form.shown_seconds("idle_s", analysis.account.idle(), "idle, seconds"); });
  });
}

// Shows the percentiles of `histogram`. `sum` is its exact sum.
void format_percentiles(ResultVisitor& form, const Histogram& histogram, Nanos sum) {
  form.shown_seconds("mean_s", histogram.count() > 0 ? sum / histogram.count() : 0,
                     "mean duration, seconds");
  form.shown_seconds("p50_s", histogram.quantile(0.5),
                     "median, seconds; percentiles are off by less than 0.8 %");
  form.shown_seconds("p90_s", histogram.quantile(0.9), "90th percentile, seconds");
  form.shown_seconds("p99_s", histogram.quantile(0.99), "99th percentile, seconds");
  form.shown_seconds("p999_s", histogram.quantile(0.999), "99.9th percentile, seconds");
  form.shown_seconds("max_s", histogram.max(), "longest, seconds");
}

constexpr std::int64_t kMaxParts = 1 << 10;  // limit, so that the sum cannot overflow
using Parts = std::vector<std::pair<std::string, Nanos>>;

void describe_parts(ResultVisitor& form, std::string_view name, Parts& parts,
                    std::string_view sentence) {
  form.entries(name, parts, sentence, [&](std::string_view key, Nanos& ns) {
    form.seconds(key, ns, "seconds", {0, IntegerRange::kMax / kMaxParts});
  });
}

void describe_first_batch(ResultVisitor& form, RunRecord& record, Analysis& analysis) {
  form.object("first_batch", "from the start to the first compute of rank 0", [&] {
    if (!form.reads()) {
      form.if_there("wall_s", !is_trace_engine(record.engine), AbsentValue::null, [&] {
        form.shown_seconds("wall_s", analysis.first_batch_wall,
                           "seconds; null of a trace, which begins with the tracing");
      });
      describe_parts(form, "by_cause", analysis.first_batch_by_cause,
                     "parts of wall_s by cause, seconds; parts of 0 are left out");
    }
    describe_parts(form, "before_first_ask", record.before_first_ask,
                   "parts before the first ask, in order, seconds");
  });
}

void format_epoch(ResultVisitor& form, const Analysis& analysis) {
  form.if_there("epoch", analysis.epoch_predicted_s.has_value(), AbsentValue::left_out, [&] {
    form.object("epoch", "when the size of the data set is known", [&] {
      form.shown("predicted_s", analysis.epoch_predicted_s.value_or(0),
                 "an epoch at the measured rate, seconds", kNotNegative);
    });
  });
}

// Shows the split of the stall by the model, and the part that other programs caused.
void format_starved(ResultVisitor& form, const Analysis& analysis) {
  form.if_there("starved", analysis.starved.has_value(), AbsentValue::left_out, [&] {
    const StallSplit starved = analysis.starved.value_or(StallSplit{});
    form.object("starved", "the stall, divided by the model; absent without findings or compute",
                [&] {
                  form.shown_seconds("mean_s", starved.from_capacity,
                                     "left if every cost always were its mean, seconds");
                  form.shown_seconds("variance_s", starved.from_variation,
                                     "the rest, for the spread of the costs, seconds");
                });
  });
}

void format_others(ResultVisitor& form, const RunRecord& record, const Analysis& analysis) {
  const auto others = contention_of_others(record);
  form.if_there("contention_others_s", others.has_value(), AbsentValue::left_out, [&] {
    const auto all = static_cast<double>(analysis.account.stall[Cause::contention]);
    form.shown_seconds("contention_others_s", std::llround(others.value_or(0) * all),
                       "the part of stall_s.contention that other programs caused, by the CPU "
                       "time that they took during the run");
  });
}

void describe_job_account(ResultVisitor& form, RunRecord& record, Analysis& analysis) {
  form.object("account", "every nanosecond of the window, mean over ranks", [&] {
    if (!form.reads()) {
      describe_account(form, analysis.account, !is_trace_engine(record.engine));
      format_starved(form, analysis);
    }
    form.flag("contention_known", record.contention_known,
              "the kernel reports run-queue delay; otherwise contention is 0");
    if (form.reads()) return;
    format_others(form, record, analysis);
    form.object("ci95", "95 % intervals of the shares of the window", [&] {
      for (const auto& word : Words<Cause>::table())
        format_interval(form, word.name, analysis.share[word.value], "");
    });
  });
}

void format_ceilings(ResultVisitor& form, const RunRecord& record, const Analysis& analysis) {
  std::vector<std::pair<std::string, Ceiling>> ceilings;
  for (const Ceiling& ceiling : list_ceilings(record, analysis))
    ceilings.emplace_back(ceiling.name, ceiling);
  form.entries(
      "ceilings", ceilings, "what this machine could give at most; each absent where not known",
      [&](std::string_view name, const Ceiling& ceiling) {
        form.object(
            name, "one ceiling",
            [&] {
              form.shown("samples_per_s", ceiling.samples_per_s, "at most", kNotNegative);
              form.shown("reached", ceiling.reached, "share of it that was reached", kNotNegative);
            },
            Lines::one);
      },
      {std::begin(kCeilings), std::end(kCeilings)});
}

void format_job_stages(ResultVisitor& form, const RunRecord& record) {
  PerStage<StageStats> stages = job_stages(record);
  describe_stages(form, stages, "stages that ran, over the window and all ranks",
                  [&](std::string_view name, StageStats& stats) {
                    const std::optional<Stage> stage = value_of<Stage>(name);
                    describe_stage(form, stats);
                    form.if_there(
                        "blocked_s", stage && has_readings(*stage, stats), AbsentValue::null, [&] {
                          form.shown_seconds("blocked_s", stats.blocked(),
                                             "wall less CPU less queued: I/O, page faults, locks, "
                                             "seconds; null where no thread was looked at",
                                             kAnyTime);
                        });
                    format_percentiles(form, stats.wall_histogram, stats.wall);
                  });
  std::vector<QueueStats> queues = job_queues(record);
  describe_queues(form, queues,
                  "queues by name; of ranks the largest capacity and occupancy, the mean of the "
                  "means, the sum of the waits");
}

void describe_skipped(ResultVisitor& form, SkippedSamples& skipped) {
  std::vector<std::pair<std::string, std::int64_t>> kinds(skipped.kind_counts.begin(),
                                                          skipped.kind_counts.end());
  form.object("errors", "samples that could not be used", [&] {
    form.whole("skipped_samples", skipped.samples, "distinct samples per epoch");
    form.entries(
        "by_kind", kinds, "counts by kind of error",
        [&](std::string_view kind, std::int64_t& count) { form.whole(kind, count, "count"); });
    form.texts("first", skipped.first, "the first ten: path and what is wrong with it");
  });
  if (form.reads()) skipped.kind_counts = {kinds.begin(), kinds.end()};
}

void format_ranks(ResultVisitor& form, RunRecord& record, const Analysis& analysis) {
  form.array("ranks", "one per trainer", [&] {
    RankRecord none;
    std::int64_t steps = 0;
    if (form.explains()) return describe_rank(form, none, steps, {}, {});
    for (std::size_t r = 0; r < record.ranks.size(); ++r) {
      steps = record.ranks[r].steps();
      describe_rank(form, record.ranks[r], steps, analysis.rank_accounts.at(r),
                    {analysis.has_busy, !is_trace_engine(record.engine)});
    }
  });
}

}  // namespace

void describe_details(ResultVisitor& form, std::vector<Detail>& details) {
  form.if_there("details", !details.empty(), AbsentValue::left_out, [&] {
    form.list("details", details,
              "what facts are called in the measured program, the largest share of each first; "
              "absent without any",
              [&](Detail& detail) {
                form.object(
                    "", "",
                    [&] {
                      form.text("about", detail.about, "a stage, or a metric");
                      form.text("text", detail.text,
                                "a function with its place, a class, a generator, an attribute, "
                                "another program");
                      form.real("share", detail.share,
                                "of the stage's named time, or of the CPU time of all other "
                                "programs; 0: not known",
                                kShare);
                    },
                    Lines::one);
              });
  });
}

void describe_run(ResultVisitor& form, RunRecord& record, Analysis& analysis, JsonScope scope) {
  describe_head(form, record, analysis);
  if (!form.reads()) describe_answer(form, record.config, analysis);
  form.optional("proof", analysis.proof, AbsentValue::left_out,
                [&](Proof& proof) { describe_proof(form, proof); });
  form.optional("against", analysis.against, AbsentValue::left_out,
                [&](AgainstRun& against) { describe_against(form, against); });
  if (!form.reads()) {
    describe_waste(form, analysis);
    format_window(form, record, analysis);
    format_rates(form, record, analysis);
    format_device(form, analysis);
    form.object("step_time", "time between the ends of successive computes", [&] {
      form.shown("count", analysis.step_time.count(), "steps of all ranks");
      format_percentiles(form, analysis.step_time, histogram_sum(analysis.step_time));
    });
  }
  describe_first_batch(form, record, analysis);
  if (!form.reads()) format_epoch(form, analysis);
  describe_job_account(form, record, analysis);
  if (!form.reads()) {
    format_ceilings(form, record, analysis);
    format_job_stages(form, record);
  }
  describe_program(form, record.program);
  describe_loaders(form, record.loaders);
  describe_metrics(form, record.metrics);
  describe_details(form, record.details);
  describe_skipped(form, record.skipped);
  form.texts("notes", record.notes, "what a reader must know: settings without effect, fallbacks");
  if (!form.reads()) form.texts("unseen", analysis.notes, "what the run was too short to see");
  form.whole("lost_spans", record.lost_spans,
             "parts of the measurement that were lost; not 0 withholds the verdict");
  if (scope == JsonScope::full && !form.reads()) {
    format_ranks(form, record, analysis);
    describe_pieces(form, record);
  }
}

}  // namespace loaderscope
