// What a watched job does, for people and member by member.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/wording.h"
#include "page/figures.h"
#include "report/kinds.h"
#include "report/screen.h"

namespace loaderscope::watch {
namespace {

Tone tone_of(const Watch& watch) {
  if (watch.limit == Limit::trainer) return Tone::good;
  if (watch.limit == Limit::unknown) return Tone::plain;
  return watch.limit == Limit::standing || watch.waits.share >= 0.2 ? Tone::bad : Tone::warning;
}

std::string value_of(const Threshold& row, double value) {
  return row.unit == "%" ? show_percent(value) : fmt::format("{:.0f} {}", value * 1e3, row.unit);
}

std::string limit_of(const Threshold& row) {
  return fmt::format("{} {}", row.is_least ? ">=" : "<=",
                     row.unit == "%" ? fmt::format("{:.0f} %", row.limit * 100)
                                     : fmt::format("{:.0f} {}", row.limit * 1e3, row.unit));
}

void tell_thresholds(Screen& screen, const Watch& watch) {
  TextTable table("lrlw", {"threshold", "now", "wanted", ""});
  std::string not_known;
  std::map<std::string, std::string> names;  // by the reason
  for (const ThresholdOutcome& outcome : watch.thresholds) {
    const auto row =
        std::find_if(thresholds().begin(), thresholds().end(),
                     [&](const Threshold& one) { return one.row.name == outcome.name; });
    if (row == thresholds().end()) continue;
    if (!outcome.told.value) {
      std::string& these = names[outcome.told.why_not];
      these += (these.empty() ? "" : ", ") + std::string(outcome.name);
      continue;
    }
    table.add({std::string(outcome.name), value_of(*row, *outcome.told.value), limit_of(*row),
               outcome.is_met == false ? "MISSED" : ""});
  }
  screen.table(Worth::evidence, table);
  for (const auto& [reason, these] : names)
    not_known += fmt::format("{}{}: {}", not_known.empty() ? "" : "; ", these, reason);
  if (!not_known.empty()) screen.line(Worth::detail, "  no value: " + not_known);
}

void tell_map_results(Screen& screen, const MapResults& results) {
  const std::int64_t all = results.found + results.made;
  if (all > 0)
    screen.line(Worth::evidence,
                fmt::format("datasets.map: {} of {} in use lay in the cache when the job began",
                            show_count(results.found), plural(all, "result")));
  if (!results.being_written.empty())
    screen.line(Worth::evidence,
                fmt::format("datasets.map: {} being written now: {}{}",
                            all > 0 ? "another is" : "a result is", results.being_written.front(),
                            results.being_written.size() > 1
                                ? fmt::format(" and {} more", results.being_written.size() - 1)
                                : ""));
}

std::string share_or_blank(double share) {
  return share >= 0.005 ? fmt::format("{:.0f} %", share * 100) : "";
}

std::vector<std::string> cells_of(const std::string& name, const Shares& shares, double bytes,
                                  const std::optional<double>& growth, const std::string& where) {
  std::vector<std::string> cells = {name, share_or_blank(shares.cpu()),
                                    share_or_blank(shares.no_core)};
  double others = 0;
  for (const Doing doing :
       {Doing::queue, Doing::storage, Doing::network, Doing::lock, Doing::sleep})
    cells.push_back(share_or_blank(shares.of(doing)));
  others = shares.of(Doing::other) + shares.of(Doing::stopped);
  cells.push_back(share_or_blank(others));
  cells.push_back(bytes > 0 ? show_size(bytes) : "");
  cells.push_back(growth ? fmt::format("{:+.1f} MB/min", *growth * 60 / 1e6) : "");
  cells.push_back(where);
  return cells;
}

std::string title_of(const WatchedProcess& process, bool has_ranks) {
  if (process.role == Role::trainer)
    return has_ranks ? fmt::format("rank {} ({})", process.rank, process.pid)
                     : fmt::format("trainer ({})", process.pid);
  return has_ranks ? fmt::format("worker {}.{} ({})", process.rank, process.number, process.pid)
                   : fmt::format("worker {} ({})", process.number, process.pid);
}

std::string where_of(const WatchedProcess& process) {
  if (process.has_ended) return "has ended";
  // The folder of a file is in the JSON: columns are narrow.
  return process.line.empty() ? process.where : process.line.substr(process.line.rfind('/') + 1);
}

void tell_processes(Screen& screen, const Watch& watch) {
  TextTable table("lrrrrrrrrrrw", {"process", "CPU", "no core", "queue", "storage", "net", "lock",
                                   "sleep", "other", "private", "grows", "where"});
  std::vector<Worth> worths = {Worth::evidence};
  const bool has_ranks = watch.count(Role::trainer) > 1;
  if (watch.workers_seen > 1) {
    const std::int64_t there = watch.count(Role::worker);
    table.add(cells_of(fmt::format("{} workers", there > 0 ? there : watch.workers_seen),
                       watch.workers, watch.worker_private_bytes, watch.worker_growth_per_s,
                       "the mean"));
  }
  for (const WatchedProcess& process : watch.processes) {
    if (process.role == Role::other) continue;
    table.add(cells_of(title_of(process, has_ranks), process.shares, process.private_bytes,
                       process.growth_per_s, where_of(process)));
    worths.push_back(process.role == Role::trainer ? Worth::evidence : Worth::detail);
  }
  if (watch.workers_seen <= 1) worths.erase(worths.begin());
  if (!table.empty()) screen.table(Worth::evidence, table, worths);
}

void tell_machine(Screen& screen, const Watch& watch) {
  const WatchedMachine& machine = watch.machine;
  std::string line =
      fmt::format("machine: {:.1f} of {} busy", machine.busy_cores, show_cores(machine.cores));
  if (machine.quota) line += " (quota)";
  line += fmt::format(", {:.1f} by others", machine.other_cores);
  for (std::size_t i = 0; i < std::min<std::size_t>(3, machine.others.size()); ++i)
    line += fmt::format("{}{} {:.2g}", i == 0 ? ": " : ", ", machine.others[i].name,
                        machine.others[i].cores);
  if (machine.throttled.value_or(0) >= kWorthSaying)
    line += fmt::format("; throttled {}", show_percent(*machine.throttled));
  if (!machine.disk.empty())
    line += fmt::format("; {} reads {}", machine.disk, show_byte_rate(machine.disk_read_per_s));
  if (machine.shm_size > 0)
    line += fmt::format("; /dev/shm {} of {}", show_size(machine.shm_used),
                        show_size(machine.shm_size));
  screen.line(Worth::evidence, line);
  if (watch.worker_read_per_s > 0)
    screen.line(Worth::basis, fmt::format("each worker reads {}, {} of it from storage",
                                          show_byte_rate(watch.worker_read_per_s),
                                          show_byte_rate(watch.worker_storage_per_s)));
  for (std::size_t i = 0; i < watch.gpus.size(); ++i) {
    const WatchedGpu& gpu = watch.gpus[i];
    screen.line(Worth::evidence,
                fmt::format("GPU {} {}: {} busy, {} of {}{}", i, gpu.name, show_percent(gpu.busy),
                            show_size(gpu.memory_used), show_size(gpu.memory),
                            gpu.is_of_job ? ", the job's" : ""));
  }
}

std::string beginning_of(const Watch& watch) {
  std::string state = watch.interrupted ? "stopped by a signal"
                      : watch.job_ended ? "the job has ended"
                                        : "the job goes on";
  if (!watch.end.empty()) state = "the program " + watch.end;
  return fmt::format(
      "{} (process {}): {:.1f} s, {} looks; watching took {} of a core; {}",
      watch.program.size() > 60 ? watch.program.substr(0, 57) + "..." : watch.program, watch.pid,
      watch.watched_s, show_count(watch.looks), show_percent(watch.own_cpu), state);
}

void describe_shares(Form& form, std::string_view name, std::string_view sentence, Shares& shares) {
  form.object(name, sentence, [&] {
    form.real("user", shares.user, "CPU time of all its threads, of the time", kNotNegative);
    form.real("system", shares.system, "likewise in the kernel", kNotNegative);
    form.real("no_core", shares.no_core, "ready to run, and without a core", kNotNegative);
    for (std::size_t i = 0; i < kDoings; ++i) {
      const DoingWord& word = word_of(static_cast<Doing>(i));
      form.real(word.name, shares.waits[i], word.sentence, kNotNegative);
    }
  });
}

void describe_process(Form& form, WatchedProcess& process) {
  form.object("", "", [&] {
    form.whole("pid", process.pid, "its number");
    form.numbered_word("role", process.role, {"trainer", "worker", "other"}, "what it is");
    form.whole("rank", process.rank, "that it is, or works for");
    form.whole("number", process.number, "of a worker, in the order of their start");
    form.text("name", process.name, "that it gives itself");
    form.flag("has_ended", process.has_ended, "and is not waited for");
    form.real("watched_s", process.watched_s, "how long it was seen", kNotNegative);
    form.whole("looks", process.looks, "at what its main thread does");
    describe_shares(form, "shares", "of the time, what it does", process.shares);
    form.text("where", process.where, "the call that it waits in most");
    form.real("read_bytes_per_s", process.read_per_s, "by calls", kNotNegative);
    form.real("storage_bytes_per_s", process.storage_per_s, "of it from storage", kNotNegative);
    form.real("major_faults_per_s", process.major_faults_per_s, "page faults with I/O",
              kNotNegative);
    form.real("private_bytes", process.private_bytes, "memory that it does not share",
              kNotNegative);
    form.real_or_null("growth_bytes_per_s", process.growth_per_s, "slope of that");
    form.whole("open_files", process.open_files, "0: not known");
    form.whole("file_limit", process.most_files, "how many it may open; 0: not known");
    form.text("python_line", process.line, "where it stands in Python; empty: not known");
  });
}

void describe_machine(Form& form, Watch& watch) {
  WatchedMachine& machine = watch.machine;
  form.object("machine", "what it runs on", [&] {
    form.real("cores", machine.cores, "that the job may use", kNotNegative);
    form.real("busy_cores", machine.busy_cores, "of the machine, by anybody", kNotNegative);
    form.real("other_cores", machine.other_cores, "that other programs took", kNotNegative);
    form.list("others", machine.others, "those programs, the largest first",
              [&](OtherProgram& other) {
                form.object("", "", [&] {
                  form.text("name", other.name, "of the program");
                  form.real("cores", other.cores, "that it took", kNotNegative);
                });
              });
    form.real_or_null("quota_cores", machine.quota, "CPU quota of the job's cgroup", kNotNegative);
    form.real_or_null("throttled", machine.throttled,
                      "share of the time that the quota held it back", kNotNegative);
    form.text("disk", machine.disk, "the busiest; empty: none is known");
    form.real("disk_busy", machine.disk_busy, "share of the time with a request under way", kShare);
    form.real("disk_read_bytes_per_s", machine.disk_read_per_s, "from it", kNotNegative);
    form.real("shm_used_bytes", machine.shm_used, "of /dev/shm, the most", kNotNegative);
    form.real("shm_bytes", machine.shm_size, "size of /dev/shm", kNotNegative);
  });
}

void describe_map_results(Form& form, MapResults& results) {
  form.object("map_results", "of Hugging Face's datasets, in files that the job has mapped", [&] {
    form.whole("found", results.found, "older than the job: they lay in the cache");
    form.whole("made", results.made, "since it began");
    form.texts("being_written", results.being_written, "files that were last seen to be");
  });
}

void describe_waits(Form& form, Watch& watch) {
  BatchWaits& waits = watch.waits;
  form.object("waits", "what trainers wait for batches: an estimate", [&] {
    form.flag("known", waits.is_known, "could be told from outside");
    form.real("share", waits.share, "of the time", kShare);
    form.whole("count", waits.waits, "that looks met");
    form.real("mean_s", waits.mean_s, "how long those were", kNotNegative);
    form.real("look_every_s", waits.every_s, "distance of looks", kNotNegative);
    form.text("basis", waits.basis, "what it is read from, or why it is not known");
  });
}

// By the row of its threshold, which outlives what was read.
void describe_name(Form& form, ThresholdOutcome& outcome) {
  std::string name(outcome.name);
  form.text("name", name, "what is looked at");
  if (!form.reads()) return;
  for (const Threshold& one : thresholds()) {
    if (one.row.name == name) outcome.name = one.row.name;
  }
  if (outcome.name.empty()) form.refuse("has a threshold that is not known here");
}

void describe_thresholds(Form& form, Watch& watch) {
  form.list("thresholds", watch.thresholds, "what is held against it",
            [&](ThresholdOutcome& outcome) {
              form.object("", "", [&] {
                describe_name(form, outcome);
                form.real_or_null("value", outcome.told.value, "a share, or seconds", kNotNegative);
                form.optional("met", outcome.is_met, Missing::null,
                              [&](bool& met) { form.flag("met", met, "null: there is no value"); });
                form.text("why_not", outcome.told.why_not, "there is no value");
              });
            });
}

page::Part part_of(std::string name, std::string kind, double share) {
  return {std::move(name), std::move(kind), share, show_percent(share)};
}

page::Bar bar_of(const std::string& label, const Shares& shares) {
  page::Bar bar;
  bar.label = label;
  bar.text = fmt::format("{} CPU", show_percent(shares.cpu()));
  const auto add = [&](const char* name, const char* kind, double share) {
    if (share >= 0.005) bar.parts.push_back(part_of(name, kind, share));
  };
  add("on a core", "decode", shares.of(Doing::runs));
  add("no core", "contention", shares.no_core);
  add("storage", "read", shares.of(Doing::storage));
  add("network", "transport", shares.of(Doing::network));
  add("lock", "launch", shares.of(Doing::lock));
  add("sleep", "pin", shares.of(Doing::sleep));
  add("other", "other", shares.of(Doing::other) + shares.of(Doing::stopped));
  add("queue", "compute", shares.of(Doing::queue));
  return bar;
}

}  // namespace

void tell_watch(Reading& reading, const Watch& watch, const ReportStyle&) {
  Screen& screen = reading.body;
  screen.wrapped_headline(capitalised(watch.sentence), tone_of(watch));
  for (std::size_t i = 1; i < watch.stands.size(); ++i) screen.line(Worth::needed, watch.stands[i]);
  if (!watch.advice.empty()) screen.line(Worth::advice, "Do: " + watch.advice);
  screen.line(Worth::basis, beginning_of(watch));
  tell_thresholds(screen, watch);
  if (watch.map_results) tell_map_results(screen, *watch.map_results);
  tell_processes(screen, watch);
  tell_machine(screen, watch);
  if (watch.waits.is_known) screen.line(Worth::beside, "basis: " + watch.waits.basis);
  for (const std::string& note : watch.notes) screen.line(Worth::basis, "note: " + note);
  for (const std::string& unseen : watch.unseen) screen.line(Worth::beside, "not seen: " + unseen);
  reading.more = "more with --verbose: each worker, what could not be seen";
}

std::string draw_watch(const Watch& watch) {
  page::Bars bars;
  bars.title = "What the processes do";
  bars.note = "Shares of the time watched, of main threads; all of it is 100 %.";
  const bool has_ranks = watch.count(Role::trainer) > 1;
  for (const WatchedProcess& process : watch.processes) {
    if (process.role != Role::other && process.looks > 0)
      bars.bars.push_back(bar_of(title_of(process, has_ranks), process.shares));
  }
  return bars.bars.empty() ? "" : drawn(bars);
}

void describe_watch(Form& form, Watch& watch) {
  form.whole("pid", watch.pid, "of the job's first process");
  form.text("program", watch.program, "its command line");
  form.real("watched_s", watch.watched_s, "how long it was watched", kNotNegative);
  form.whole("samples", watch.samples, "of the kernel's counters");
  form.whole("looks", watch.looks, "at what main threads do");
  form.real("own_cpu", watch.own_cpu, "share of a core that watching took", kNotNegative);
  form.flag("job_ended", watch.job_ended, "while it was watched");
  form.flag("interrupted", watch.interrupted, "watching was stopped by a signal");
  form.text("end", watch.end, "how the program ended that was started for it");
  form.object("verdict", "what limits the job", [&] {
    form.numbered_word("limit", watch.limit, limit_names(), "what it is");
    form.text("sentence", watch.sentence, "the answer");
    form.text("advice", watch.advice, "what to do; empty: nothing");
  });
  form.texts("stands", watch.stands, "where the processes stand of a job that does not go on");
  describe_waits(form, watch);
  describe_thresholds(form, watch);
  form.object("workers", "of the loader, all together", [&] {
    form.whole("seen", watch.workers_seen, "also of earlier epochs");
    describe_shares(form, "shares", "of the time, what they do", watch.workers);
    form.real("read_bytes_per_s", watch.worker_read_per_s, "of each, by calls", kNotNegative);
    form.real("storage_bytes_per_s", watch.worker_storage_per_s, "of it from storage",
              kNotNegative);
    form.real("private_bytes", watch.worker_private_bytes, "the mean of those that are there",
              kNotNegative);
    form.real_or_null("growth_bytes_per_s", watch.worker_growth_per_s, "likewise its slope");
  });
  form.list("processes", watch.processes, "of the job",
            [&](WatchedProcess& process) { describe_process(form, process); });
  form.list("gpus", watch.gpus, "of the machine", [&](WatchedGpu& gpu) {
    form.object("", "", [&] {
      form.text("name", gpu.name, "as NVML says it");
      form.real("busy", gpu.busy, "share of the time in which a kernel ran, the mean",
                kNotNegative);
      form.real("memory_used_bytes", gpu.memory_used, "the mean", kNotNegative);
      form.real("memory_bytes", gpu.memory, "that it has", kNotNegative);
      form.flag("of_job", gpu.is_of_job, "a process of the job computes on it");
    });
  });
  describe_machine(form, watch);
  form.optional("map_results", watch.map_results, Missing::left_out,
                [&](MapResults& results) { describe_map_results(form, results); });
  form.texts("unseen", watch.unseen, "what could not be seen");
  form.texts("notes", watch.notes, "what else is to be known");
}

}  // namespace loaderscope::watch
