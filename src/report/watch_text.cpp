// Text about a watched job.
#include "report/watch_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/wording.h"
#include "report/kinds.h"
#include "report/text_report.h"

namespace loaderscope::watch {
namespace {

LineTone watch_tone(const Watch& watch) {
  if (watch.limit == Limit::trainer) return LineTone::good;
  if (watch.limit == Limit::unknown) return LineTone::plain;
  return watch.limit == Limit::hang || watch.waits.share >= 0.2 ? LineTone::bad : LineTone::warning;
}

std::string value_of(const Threshold& row, double value) {
  return row.unit == "%" ? format_percent(value) : fmt::format("{:.0f} {}", value * 1e3, row.unit);
}

std::string threshold_limit(const Threshold& row) {
  return fmt::format("{} {}", row.is_least ? ">=" : "<=",
                     row.unit == "%" ? fmt::format("{:.0f} %", row.limit * 100)
                                     : fmt::format("{:.0f} {}", row.limit * 1e3, row.unit));
}

const Threshold* find_threshold(const ThresholdOutcome& outcome) {
  for (const Threshold& one : thresholds())
    if (one.row.name == outcome.name) return &one;
  return nullptr;
}

void write_thresholds(TextReportBuilder& screen, const Watch& watch) {
  TextTable table("lrlw", {"threshold", "now", "wanted", ""});
  std::map<std::string, std::string> unknown;  // names, by the reason
  for (const ThresholdOutcome& outcome : watch.thresholds) {
    const Threshold* const row = find_threshold(outcome);
    if (row == nullptr) continue;
    if (!outcome.value_or_reason.value) {
      std::string& names = unknown[outcome.value_or_reason.why_not];
      names += (names.empty() ? "" : ", ") + std::string(outcome.name);
      continue;
    }
    table.add({std::string(outcome.name), value_of(*row, *outcome.value_or_reason.value),
               threshold_limit(*row), outcome.is_met == false ? "MISSED" : ""});
  }
  screen.table(LinePriority::evidence, table);
  std::string not_known;
  for (const auto& [reason, names] : unknown)
    not_known += fmt::format("{}{}: {}", not_known.empty() ? "" : "; ", names, reason);
  if (!not_known.empty()) screen.line(LinePriority::detail, "  no value: " + not_known);
}

void write_map_results(TextReportBuilder& screen, const MapResults& results) {
  const std::int64_t all = results.found + results.made;
  if (all > 0)
    screen.line(LinePriority::evidence,
                fmt::format("datasets.map: {} of {} in use lay in the cache when the job began",
                            format_count(results.found), plural(all, "result")));
  if (!results.being_written.empty())
    screen.line(LinePriority::evidence,
                fmt::format("datasets.map: {} being written now to {}{}",
                            all > 0 ? "another is" : "a result is", results.being_written.front(),
                            results.being_written.size() > 1
                                ? fmt::format(" and {} more", results.being_written.size() - 1)
                                : ""));
}

std::string share_or_blank(double share) {
  return share >= 0.005 ? fmt::format("{:.0f} %", share * 100) : "";
}

std::vector<std::string> process_cells(const std::string& name, const Shares& shares, double bytes,
                                       const std::optional<double>& growth,
                                       const std::string& where) {
  std::vector<std::string> cells = {name, share_or_blank(shares.cpu()),
                                    share_or_blank(shares.no_core)};
  for (const ThreadActivity doing :
       {ThreadActivity::queue, ThreadActivity::storage, ThreadActivity::network,
        ThreadActivity::lock, ThreadActivity::sleep})
    cells.push_back(share_or_blank(shares.activity_share(doing)));
  cells.push_back(share_or_blank(shares.activity_share(ThreadActivity::other) +
                                 shares.activity_share(ThreadActivity::stopped)));
  cells.push_back(bytes > 0 ? format_size(bytes) : "");
  cells.push_back(growth ? fmt::format("{:+.1f} MB/min", *growth * 60 / 1e6) : "");
  cells.push_back(where);
  return cells;
}

std::string process_place(const WatchedProcess& process) {
  if (process.has_ended) return "has ended";
  // The folder of a file is in the JSON: columns are narrow.
  return process.line.empty() ? process.where : process.line.substr(process.line.rfind('/') + 1);
}

void write_processes(TextReportBuilder& screen, const Watch& watch) {
  TextTable table("lrrrrrrrrrrw", {"process", "CPU", "no core", "queue", "storage", "net", "lock",
                                   "sleep", "other", "private", "grows", "where"});
  std::vector<LinePriority> worths;
  const bool has_ranks = watch.count(Role::trainer) > 1;
  if (watch.workers_seen > 1) {
    const std::int64_t there = watch.count(Role::worker);
    table.add(process_cells(plural(there > 0 ? there : watch.workers_seen, "worker"), watch.workers,
                            watch.worker_private_bytes, watch.worker_growth_per_s, "the mean"));
    worths.push_back(LinePriority::evidence);
  }
  for (const WatchedProcess& process : watch.processes) {
    if (process.role == Role::other) continue;
    table.add(process_cells(process_title(process, has_ranks), process.shares,
                            process.private_bytes, process.growth_per_s, process_place(process)));
    worths.push_back(process.role == Role::trainer ? LinePriority::evidence : LinePriority::detail);
  }
  if (!table.empty()) screen.table(LinePriority::evidence, table, worths);
}

std::string machine_line(const WatchedMachine& machine) {
  const bool has_quota = machine.quota && *machine.quota <= machine.cores;
  std::string line =
      has_quota
          ? fmt::format(
                "{:.1f} of the cores that the job may be put on are busy, its quota is "
                "{}",
                machine.busy_cores, format_cores(machine.cores))
          : fmt::format("{:.1f} of {} are busy", machine.busy_cores, format_cores(machine.cores));
  line += fmt::format(", {:.1f} by others", machine.other_cores);
  for (std::size_t i = 0; i < std::min<std::size_t>(3, machine.others.size()); ++i)
    line += fmt::format("{}{} {:.2g}", i == 0 ? ": " : ", ", machine.others[i].name,
                        machine.others[i].cores);
  if (machine.throttled.value_or(0) >= kMinReportedShare)
    line += fmt::format("; throttled {}", format_percent(*machine.throttled));
  if (!machine.disk.empty())
    line += fmt::format("; {} reads {}", machine.disk, format_byte_rate(machine.disk_read_per_s));
  if (machine.shm_size > 0)
    line += fmt::format("; /dev/shm {} of {}", format_size(machine.shm_used),
                        format_size(machine.shm_size));
  return line;
}

void write_machine(TextReportBuilder& screen, const Watch& watch) {
  screen.line(LinePriority::evidence, machine_line(watch.machine));
  if (watch.worker_read_per_s > 0)
    screen.line(LinePriority::basis, fmt::format("each worker reads {}, {} of it from storage",
                                                 format_byte_rate(watch.worker_read_per_s),
                                                 format_byte_rate(watch.worker_storage_per_s)));
  for (std::size_t i = 0; i < watch.gpus.size(); ++i) {
    const WatchedGpu& gpu = watch.gpus[i];
    screen.line(LinePriority::evidence,
                fmt::format("GPU {} {}: {} busy, {} of {}{}", i, gpu.name, format_percent(gpu.busy),
                            format_size(gpu.memory_used), format_size(gpu.memory),
                            gpu.is_of_job ? ", the job's" : ""));
  }
}

std::string watch_summary(const Watch& watch) {
  std::string state = watch.interrupted ? "stopped by a signal"
                      : watch.job_ended ? "the job has ended"
                                        : "the job is running";
  if (!watch.end.empty()) state = "the program " + watch.end;
  return fmt::format(
      "{} (process {}): {:.1f} s, {} looks, watching took {} of a core; {}",
      watch.program.size() > 60 ? watch.program.substr(0, 57) + "..." : watch.program, watch.pid,
      watch.watched_s, format_count(watch.looks), format_percent(watch.own_cpu), state);
}

}  // namespace

std::string process_title(const WatchedProcess& process, bool has_ranks) {
  if (process.role == Role::trainer)
    return has_ranks ? fmt::format("rank {} ({})", process.rank, process.pid)
                     : fmt::format("trainer ({})", process.pid);
  return has_ranks ? fmt::format("worker {}.{} ({})", process.rank, process.number, process.pid)
                   : fmt::format("worker {} ({})", process.number, process.pid);
}

void write_watch_text(TextReport& reading, const Watch& watch, const ReportStyle&) {
  TextReportBuilder& screen = reading.body;
  screen.wrapped_headline(capitalised(watch.sentence), watch_tone(watch));
  for (std::size_t i = 1; i < watch.hang_states.size(); ++i)
    screen.line(LinePriority::needed, watch.hang_states[i]);
  if (!watch.advice.empty()) screen.line(LinePriority::advice, "Fix: " + watch.advice);
  screen.line(LinePriority::basis, watch_summary(watch));
  write_thresholds(screen, watch);
  if (watch.map_results) write_map_results(screen, *watch.map_results);
  write_processes(screen, watch);
  write_machine(screen, watch);
  if (watch.waits.is_known)
    screen.line(LinePriority::beside, "The waits are based on " + watch.waits.basis);
  for (const std::string& note : watch.notes) screen.note(LinePriority::basis, note);
  if (!watch.unseen.empty()) screen.line(LinePriority::beside, "What could not be seen");
  for (const std::string& unseen : watch.unseen) screen.note(LinePriority::beside, unseen);
  reading.more = "more with -vv: each worker, what could not be seen";
}

}  // namespace loaderscope::watch
