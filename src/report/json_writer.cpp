#include "report/json_writer.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "analysis/contention.h"
#include "analysis/totals.h"
#include "loaderscope/settings.h"
#include "report/json_stream.h"
#include "report/keys.h"
#include "report/next_command.h"
#include "report/proof_json.h"
#include "report/table_parts.h"

namespace loaderscope {
namespace {

void write_optional(JsonStream& json, std::string_view key,
                    const std::optional<std::string>& text) {
  if (text) {
    json.member(key, *text);
  } else {
    json.null(key);
  }
}

void write_interval(JsonStream& json, const Estimate& estimate) {
  json.begin_array("ci95", kCompact);
  json.element(estimate.low);
  json.element(estimate.high);
  json.end_array();
}

void write_strings(JsonStream& json, std::string_view key, const std::vector<std::string>& texts) {
  json.begin_array(key);
  for (const std::string& text : texts) json.element(std::string_view(text));
  json.end_array();
}

void write_machine(JsonStream& json, const MachineFacts& machine) {
  json.begin_object("machine");
  for (const auto& [name, member] : keys::kMachineWords) {
    json.member(name, std::string_view(machine.*member));
  }
  json.member("logical_cpus", machine.logical_cpus);
  json.member("cores", machine.cores);
  json.member("memory_bytes", machine.memory_bytes);
  json.end_object();
}

// The values in force. A setting without a value is null.
void write_config(JsonStream& json, const RunConfig& config) {
  json.begin_object("config");
  for (const Field& field : fields()) {
    const std::string key = keys::of_field(field.name);
    if (field.repeats) {
      json.begin_array(key, kCompact);
      for (const std::string& text : field.texts(config)) json.element(std::string_view(text));
      json.end_array();
      continue;
    }
    const std::string text = field.text(config);
    if (text.empty()) {
      json.null(key);
    } else if (field.is_switch()) {
      json.member(key, text == "true");
    } else if (field.is_number) {
      json.number(key, text);
    } else {
      json.member(key, std::string_view(text));
    }
  }
  json.end_object();
}

// What the user said himself; the other values are defaults or follow from the machine.
void write_given(JsonStream& json, const RunConfig& config) {
  json.begin_array("config_given", kCompact);
  for (const Field& field : fields()) {
    if (field.given(config)) json.element(std::string_view(keys::of_field(field.name)));
  }
  json.end_array();
}

void write_verdict(JsonStream& json, const Verdict& verdict) {
  json.begin_object("verdict");
  json.member("sentence", std::string_view(verdict.sentence));
  write_optional(json, "bound_by", verdict.bound_by);
  write_optional(json, "severity", verdict.severity);
  write_optional(json, "withheld_reason", verdict.withheld_reason);
  json.begin_array("candidates", kCompact);
  for (Cause cause : verdict.candidates) json.element(name_of(cause));
  json.end_array();
  json.member("no_gain", verdict.no_gain);
  json.member("together", verdict.together);
  write_optional(
      json, "hidden",
      verdict.hidden ? std::optional(std::string(name_of(*verdict.hidden))) : std::nullopt);
  json.end_object();
}

void write_removals(JsonStream& json, const Removals& removals) {
  json.begin_object("removals");
  json.member("basis", name_of(removals.basis));
  json.begin_array("list");
  for (const Removal& removal : removals.list) {
    json.begin_object({}, kCompact);
    json.begin_array("without", kCompact);
    for (Cause cause : removal.causes) json.element(name_of(cause));
    json.end_array();
    json.member("saves", removal.saves);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void write_rates(JsonStream& json, const RunRecord& record, const Analysis& analysis) {
  json.begin_object("throughput");
  json.begin_object("samples_per_s");
  json.member("mean", analysis.samples_per_s.mean);
  write_interval(json, analysis.samples_per_s);
  json.end_object();
  json.member("read_bytes_per_s", per_second(record, &RankRecord::read_bytes));
  json.member("delivered_bytes_per_s", per_second(record, &RankRecord::delivered_bytes));
  json.end_object();

  json.begin_object("device");
  if (analysis.has_busy) {
    json.member("busy", analysis.busy.mean);
    write_interval(json, analysis.busy);
    json.member("busy_s", Seconds{analysis.account.compute});
    json.member("idle_s", Seconds{analysis.account.idle()});
  } else {
    for (std::string_view key : {"busy", "ci95", "busy_s", "idle_s"}) json.null(key);
  }
  json.end_object();
}

void write_window(JsonStream& json, const Analysis& analysis) {
  json.begin_object("window");
  json.member("wall_s", Seconds{analysis.account.window});
  json.member("steps", analysis.steps);
  json.member("samples", analysis.samples);
  json.member("steady", analysis.steady);
  json.end_object();
}

void write_prediction(JsonStream& json, double rate, double busy) {
  json.member("samples_per_s", rate);
  if (busy > 0) {
    json.member("busy", busy);
  } else {
    json.null("busy");
  }
}

void write_figures(JsonStream& json, const Finding& finding) {
  if (!finding.has_figures()) {
    json.null("predicted");
    return json.null("regained_s");
  }
  json.begin_object("predicted");
  write_prediction(json, finding.rate_after, finding.busy_after);
  json.begin_object("base");
  write_prediction(json, finding.rate_before, finding.busy_before);
  json.end_object();
  json.end_object();
  json.member("regained_s", Seconds{std::llround(finding.regained_s * 1e9)});
}

void write_finding(JsonStream& json, const RunConfig& config, const Finding& finding) {
  json.begin_object();
  json.member("id", finding.id);
  json.member("wrong_data", finding.wrong_data);
  json.member("evidence", std::string_view(finding.evidence));
  json.member("advice", std::string_view(finding.pytorch));
  if (finding.has_setting()) {
    json.member("command", std::string_view(command_for(config, finding.to_run)));
  } else {
    json.null("command");
  }
  const bool for_reader = finding.mended_by == MendedBy::reader;
  json.member("mended_by", std::string_view(for_reader ? "reader" : "administrator"));
  json.member("waited", finding.waited);
  json.begin_array("changes", kCompact);
  for (const Change& change : finding.changes)
    json.element(std::string_view(change.key + "=" + change.value));
  json.end_array();
  write_figures(json, finding);
  json.end_object();
}

void write_findings(JsonStream& json, const RunRecord& record, const Analysis& analysis) {
  json.begin_array("findings");
  for (const Finding& finding : analysis.findings) write_finding(json, record.config, finding);
  json.end_array();
  if (!analysis.fit) return;
  json.begin_object("fit");
  json.member("rate_error", analysis.fit->rate_error);
  json.member("worst_part", std::string_view(analysis.fit->worst_part));
  json.member("worst_share", analysis.fit->worst_share);
  write_strings(json, "notes", analysis.fit_notes);
  json.begin_object("history");
  json.member("count", analysis.past.count);
  json.member("median", analysis.past.median);
  json.member("worst", analysis.past.worst);
  json.end_object();
  json.end_object();
}

void write_depth(JsonStream& json, const Analysis& analysis) {
  if (!analysis.depth) return;
  const ReadyDepth& depth = *analysis.depth;
  json.begin_object("depth");
  json.member("setting", std::string_view(depth.setting));
  json.member("ready_now", depth.ready_now);
  if (depth.enough) {
    json.member("ready_999", *depth.enough);
    json.member("memory_bytes", depth.memory);
  } else {
    json.null("ready_999");
    json.null("memory_bytes");
  }
  json.member("steps", depth.steps);
  json.end_object();
}

void write_what_it_takes(JsonStream& json, const Analysis& analysis) {
  if (!analysis.what_it_takes) return;
  json.begin_object("what_it_takes");
  json.member("busy", analysis.what_it_takes->busy);
  json.begin_array("ways");
  for (const Needed& way : analysis.what_it_takes->ways) {
    json.begin_object({}, kCompact);
    json.member("what", std::string_view(way.what));
    json.begin_array("changes");
    for (const Change& change : way.changes)
      json.element(std::string_view(change.key + "=" + change.value));
    json.end_array();
    json.member("busy", way.changes.empty() ? std::nan("") : way.busy_after);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void write_waste(JsonStream& json, const Analysis& analysis) {
  if (!analysis.waste) return;
  json.begin_object("cost");
  json.member("gpu_hours_lost_per_day", analysis.waste->gpu_hours_per_day);
  if (analysis.waste->price_per_day) {
    json.member("per_day", *analysis.waste->price_per_day);
  } else {
    json.null("per_day");
  }
  json.end_object();
}

// Mean and percentiles of `histogram`, with `sum` its exact sum.
void write_percentiles(JsonStream& json, const Histogram& histogram, Nanos sum) {
  json.member("mean_s", Seconds{histogram.count() > 0 ? sum / histogram.count() : 0});
  json.member("p50_s", Seconds{histogram.quantile(0.5)});
  json.member("p90_s", Seconds{histogram.quantile(0.9)});
  json.member("p99_s", Seconds{histogram.quantile(0.99)});
  json.member("p999_s", Seconds{histogram.quantile(0.999)});
  json.member("max_s", Seconds{histogram.max()});
}

void write_times(JsonStream& json, const RunRecord& record, const Analysis& analysis) {
  json.begin_object("step_time");
  json.member("count", analysis.step_time.count());
  write_percentiles(json, analysis.step_time, sum_of(analysis.step_time));
  json.end_object();

  json.begin_object("first_batch");
  json.member("wall_s", Seconds{analysis.first_batch_wall});
  json.begin_object("by_cause");
  for (const auto& [name, ns] : analysis.first_batch_by_cause) json.member(name, Seconds{ns});
  json.end_object();
  json.begin_object("before_first_ask");
  for (const auto& [name, ns] : record.before_first_ask) json.member(name, Seconds{ns});
  json.end_object();
  json.end_object();

  if (analysis.epoch_predicted_s) {
    json.begin_object("epoch");
    json.member("predicted_s", *analysis.epoch_predicted_s);
    json.end_object();
  }
}

void write_account_members(JsonStream& json, const Account& account) {
  json.member("compute_s", Seconds{account.compute});
  json.begin_object("stall_s");
  for (const auto& word : Words<Cause>::table()) {
    json.member(word.name, Seconds{account.stall[word.value]});
  }
  json.end_object();
  json.begin_object("launch");
  json.member("launching_s", Seconds{account.launching});
  json.member("not_asking_s", Seconds{account.not_asking});
  json.end_object();
  json.begin_object("why");
  for (const auto& word : Words<Why>::table()) {
    json.member(std::string(word.name) + "_s", Seconds{account.why[word.value]});
  }
  json.end_object();
  json.member("waiting_for_ranks_s", Seconds{account.waiting_for_ranks});
  json.member("order_s", Seconds{account.order});
  json.member("clamped_s", Seconds{account.clamped});
}

void write_account(JsonStream& json, const RunRecord& record, const Analysis& analysis) {
  json.begin_object("account");
  write_account_members(json, analysis.account);
  if (analysis.starved) {
    json.begin_object("starved");
    json.member("mean_s", Seconds{analysis.starved->mean});
    json.member("variance_s", Seconds{analysis.starved->variance});
    json.end_object();
  }
  json.member("contention_known", record.contention_known);
  if (const auto others = contention_of_others(record)) {
    const auto all = static_cast<double>(analysis.account.stall[Cause::contention]);
    json.member("contention_others_s", Seconds{std::llround(*others * all)});
  }
  json.begin_object("ci95");  // of the shares of the window
  for (const auto& word : Words<Cause>::table()) {
    const Estimate& share = analysis.share[word.value];
    json.begin_array(word.name, kCompact);
    json.element(share.low);
    json.element(share.high);
    json.end_array();
  }
  json.end_object();
  json.end_object();
}

void write_stage_totals(JsonStream& json, const StageStats& stats) {
  json.member("count", stats.count);
  for (const auto& [name, member] : keys::kStageTimes) json.member(name, Seconds{stats.*member});
  json.member("bytes", stats.bytes);
}

template <class WriteStage>
void write_stages(JsonStream& json, const PerStage<StageStats>& stages,
                  const WriteStage& write_stage) {
  json.begin_object("stages");
  for (const auto& word : Words<Stage>::table()) {
    const StageStats& stats = stages[word.value];
    if (stats.count == 0) continue;
    json.begin_object(word.name);
    write_stage(stats);
    json.end_object();
  }
  json.end_object();
}

void write_queues(JsonStream& json, const std::vector<QueueStats>& queues) {
  json.begin_object("queues");
  for (const QueueStats& queue : queues) {
    json.begin_object(queue.name);
    for (const auto& [name, member] : keys::kQueueCounts) json.member(name, queue.*member);
    json.member("mean_occupancy", queue.mean_occupancy);
    for (const auto& [name, member] : keys::kQueueWaits) json.member(name, Seconds{queue.*member});
    json.end_object();
  }
  json.end_object();
}

// Each metric's value under its path; the descriptions in `metrics`.
void write_metrics(JsonStream& json, const std::vector<Metric>& metrics) {
  std::vector<std::string_view> groups;
  for (const Metric& metric : metrics) {
    const keys::MetricPlace place = keys::place_of(metric.name);
    if (!place.ok())
      throw std::logic_error("metric '" + metric.name + "' needs a name such as memory.rss_bytes");
    if (std::find(groups.begin(), groups.end(), place.group) == groups.end()) {
      groups.push_back(place.group);
    }
  }
  for (std::string_view group : groups) {
    json.begin_object(group);
    for (const Metric& metric : metrics) {
      const keys::MetricPlace place = keys::place_of(metric.name);
      if (place.group == group) json.member(place.name, metric.value);
    }
    json.end_object();
  }
  json.begin_array("metrics");
  for (const Metric& metric : metrics) {
    json.begin_object({}, kCompact);
    json.member("name", std::string_view(metric.name));
    json.member("unit", std::string_view(metric.unit));
    json.member("help", std::string_view(metric.help));
    json.end_object();
  }
  json.end_array();
}

void write_details(JsonStream& json, const std::vector<Detail>& details) {
  if (details.empty()) return;
  json.begin_array("details");
  for (const Detail& detail : details) {
    json.begin_object({}, kCompact);
    json.member("about", std::string_view(detail.about));
    json.member("text", std::string_view(detail.text));
    json.member("share", detail.share);
    json.end_object();
  }
  json.end_array();
}

void write_rank_stage(JsonStream& json, const StageStats& stats) {
  write_stage_totals(json, stats);
  json.member("max_s", Seconds{stats.wall_histogram.max()});
  json.begin_array("buckets", kCompact);
  for (const Histogram::Bucket& bucket : stats.wall_histogram.buckets()) {
    json.begin_array();
    json.element(std::int64_t{bucket.index});
    json.element(bucket.count);
    json.element(bucket.sum);
    json.end_array();
  }
  json.end_array();
}

void write_rank(JsonStream& json, const RankRecord& rank, const Account& account, bool has_busy) {
  json.begin_object();
  json.member("first_ask_ns", rank.first_ask);
  json.begin_object("window");
  json.member("begin_s", Seconds{rank.window_begin - rank.first_ask});
  json.member("end_s", Seconds{rank.window_end - rank.first_ask});
  json.member("wall_s", Seconds{account.window});
  json.member("warmup_steps", rank.warmup_steps);
  json.member("steps", rank.steps());
  json.end_object();
  for (const auto& [name, member] : keys::kRankCounts) json.member(name, rank.*member);
  json.member("samples_per_s", rate_of(rank, &RankRecord::samples));
  if (has_busy) {
    json.member("busy", busy_of(account));
  } else {
    json.null("busy");
  }
  json.begin_object("account");
  write_account_members(json, account);
  json.end_object();
  if (rank.critical_path) write_critical_path(json, *rank.critical_path);
  write_stages(json, rank.stages, [&](const StageStats& stats) { write_rank_stage(json, stats); });
  write_queues(json, rank.queues);
  json.end_object();
}

void write_head(JsonStream& json, const RunRecord& record) {
  json.member("schema", keys::kSchema);
  json.begin_object("tool");
  json.member("version", std::string_view(record.tool_version));
  json.end_object();
  json.member("engine", std::string_view(record.engine));
  for (const auto& [name, member] : keys::kRunFlags) json.member(name, record.*member);
}

void write_ceilings(JsonStream& json, const RunRecord& record, const Analysis& analysis) {
  json.begin_object("ceilings");
  for (const Ceiling& ceiling : ceilings_of(record, analysis)) {
    json.begin_object(ceiling.name, kCompact);
    json.member("samples_per_s", ceiling.samples_per_s);
    json.member("reached", ceiling.reached);
    json.end_object();
  }
  json.end_object();
}

void write_skipped(JsonStream& json, const SkippedSamples& skipped) {
  json.begin_object("errors");
  json.member("skipped_samples", skipped.samples);
  json.begin_object("by_kind");
  for (const auto& [kind, count] : skipped.by_kind) json.member(kind, count);
  json.end_object();
  write_strings(json, "first", skipped.first);
  json.end_object();
}

void write_answer(JsonStream& json, const RunRecord& record, const Analysis& analysis) {
  write_verdict(json, analysis.verdict);
  write_removals(json, analysis.removals);
  write_findings(json, record, analysis);
  write_depth(json, analysis);
  write_what_it_takes(json, analysis);
  if (analysis.proof) write_proof(json, *analysis.proof);
  write_waste(json, analysis);
  write_window(json, analysis);
  write_rates(json, record, analysis);
  write_times(json, record, analysis);
  write_account(json, record, analysis);
  write_ceilings(json, record, analysis);
  write_stages(json, job_stages(record), [&](const StageStats& stats) {
    write_stage_totals(json, stats);
    json.member("blocked_s", Seconds{stats.blocked()});
    write_percentiles(json, stats.wall_histogram, stats.wall);
  });
  write_queues(json, job_queues(record));
  write_metrics(json, record.metrics);
  write_details(json, record.details);
  write_skipped(json, record.skipped);
  write_strings(json, "notes", record.notes);
  write_strings(json, "unseen", analysis.notes);
  json.member("lost_spans", record.lost_spans);
}

}  // namespace

void write_json(std::ostream& out, const RunRecord& record, const Analysis& analysis,
                JsonScope scope) {
  JsonStream json(out);
  json.begin_object();
  write_head(json, record);
  write_machine(json, record.machine);
  write_config(json, record.config);
  write_given(json, record.config);
  write_answer(json, record, analysis);
  if (scope == JsonScope::full) {
    json.begin_array("ranks");
    for (std::size_t r = 0; r < record.ranks.size(); ++r) {
      write_rank(json, record.ranks[r], analysis.rank_accounts.at(r), analysis.has_busy);
    }
    json.end_array();
    write_steps(json, record);
    write_reservoir(json, record);
    write_exemplars(json, record);
  }
  json.end_object();
}

}  // namespace loaderscope
