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
    table.add(cells_of(fmt::format("{} workers", watch.count(Role::worker)), watch.workers,
                       watch.worker_private_bytes, watch.worker_growth_per_s, "the mean"));
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

void describe_shares(Form& form, std::string_view name, std::string_view sentence,
                     const Shares& shares) {
  form.object(name, sentence, [&] {
    form.shown("user", shares.user, "CPU time of all its threads, of the time", kNotNegative);
    form.shown("system", shares.system, "likewise in the kernel", kNotNegative);
    form.shown("no_core", shares.no_core, "ready to run, and without a core", kNotNegative);
    for (std::size_t i = 0; i < kDoings; ++i) {
      const DoingWord& word = word_of(static_cast<Doing>(i));
      form.shown(word.name, shares.waits[i], word.sentence, kNotNegative);
    }
  });
}

void describe_process(Form& form, WatchedProcess& process) {
  form.object("", "", [&] {
    form.shown("pid", std::int64_t{process.pid}, "its number");
    form.shown_word("role", name_of(process.role), {"trainer", "worker", "other"}, "what it is");
    form.shown("rank", process.rank, "that it is, or works for");
    form.shown("number", process.number, "of a worker, in the order of their start");
    form.shown("name", process.name, "that it gives itself");
    form.shown("has_ended", process.has_ended, "and is not waited for");
    form.shown("watched_s", process.watched_s, "how long it was seen", kNotNegative);
    form.shown("looks", process.looks, "at what its main thread does");
    describe_shares(form, "shares", "of the time, what it does", process.shares);
    form.shown("where", process.where, "the call that it waits in most");
    form.shown("read_bytes_per_s", process.read_per_s, "by calls", kNotNegative);
    form.shown("storage_bytes_per_s", process.storage_per_s, "of it from storage", kNotNegative);
    form.shown("major_faults_per_s", process.major_faults_per_s, "page faults with I/O",
               kNotNegative);
    form.shown("private_bytes", process.private_bytes, "memory that it does not share",
               kNotNegative);
    form.shown("growth_bytes_per_s", process.growth_per_s, "slope of that");
    form.shown("open_files", process.open_files, "0: not known");
    form.shown("file_limit", process.most_files, "how many it may open; 0: not known");
    form.shown("python_line", process.line, "where it stands in Python; empty: not known");
  });
}

void describe_machine(Form& form, Watch& watch) {
  WatchedMachine& machine = watch.machine;
  form.object("machine", "what it runs on", [&] {
    form.shown("cores", machine.cores, "that the job may use", kNotNegative);
    form.shown("busy_cores", machine.busy_cores, "of the machine, by anybody", kNotNegative);
    form.shown("other_cores", machine.other_cores, "that other programs took", kNotNegative);
    form.list("others", machine.others, "those programs, the largest first",
              [&](OtherProgram& other) {
                form.object("", "", [&] {
                  form.shown("name", other.name, "of the program");
                  form.shown("cores", other.cores, "that it took", kNotNegative);
                });
              });
    form.shown("quota_cores", machine.quota, "CPU quota of the job's cgroup", kNotNegative);
    form.shown("throttled", machine.throttled, "share of the time that the quota held it back",
               kNotNegative);
    form.shown("disk", machine.disk, "the busiest; empty: none is known");
    form.shown("disk_busy", machine.disk_busy, "share of the time with a request under way",
               kShare);
    form.shown("disk_read_bytes_per_s", machine.disk_read_per_s, "from it", kNotNegative);
    form.shown("shm_used_bytes", machine.shm_used, "of /dev/shm, the most", kNotNegative);
    form.shown("shm_bytes", machine.shm_size, "size of /dev/shm", kNotNegative);
  });
}

void describe_waits(Form& form, Watch& watch) {
  BatchWaits& waits = watch.waits;
  form.object("waits", "what trainers wait for batches: an estimate", [&] {
    form.shown("known", waits.is_known, "could be told from outside");
    form.shown("share", waits.share, "of the time", kShare);
    form.shown("count", waits.waits, "that looks met");
    form.shown("mean_s", waits.mean_s, "how long those were", kNotNegative);
    form.shown("look_every_s", waits.every_s, "distance of looks", kNotNegative);
    form.shown("basis", waits.basis, "what it is read from, or why it is not known");
  });
}

void describe_thresholds(Form& form, Watch& watch) {
  form.list("thresholds", watch.thresholds, "what is held against it",
            [&](ThresholdOutcome& outcome) {
              form.object("", "", [&] {
                form.shown("name", std::string(outcome.name), "what is looked at");
                form.shown("value", outcome.told.value, "a share, or seconds", kNotNegative);
                form.shown("met", outcome.is_met, "null: there is no value");
                form.shown("why_not", outcome.told.why_not, "there is no value");
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
  form.shown("pid", std::int64_t{watch.pid}, "of the job's first process");
  form.shown("program", watch.program, "its command line");
  form.shown("watched_s", watch.watched_s, "how long it was watched", kNotNegative);
  form.shown("samples", watch.samples, "of the kernel's counters");
  form.shown("looks", watch.looks, "at what main threads do");
  form.shown("own_cpu", watch.own_cpu, "share of a core that watching took", kNotNegative);
  form.shown("job_ended", watch.job_ended, "while it was watched");
  form.shown("interrupted", watch.interrupted, "watching was stopped by a signal");
  form.shown("end", watch.end, "how the program ended that was started for it");
  form.object("verdict", "what limits the job", [&] {
    form.shown_word("limit", name_of(watch.limit), limit_names(), "what it is");
    form.shown("sentence", watch.sentence, "the answer");
    form.shown("advice", watch.advice, "what to do; empty: nothing");
  });
  form.texts("stands", watch.stands, "where the processes stand of a job that does not go on");
  describe_waits(form, watch);
  describe_thresholds(form, watch);
  form.object("workers", "of the loader, all together", [&] {
    form.shown("seen", watch.workers_seen, "also of earlier epochs");
    describe_shares(form, "shares", "of the time, what they do", watch.workers);
    form.shown("read_bytes_per_s", watch.worker_read_per_s, "of each, by calls", kNotNegative);
    form.shown("storage_bytes_per_s", watch.worker_storage_per_s, "of it from storage",
               kNotNegative);
    form.shown("private_bytes", watch.worker_private_bytes, "the mean of those that are there",
               kNotNegative);
    form.shown("growth_bytes_per_s", watch.worker_growth_per_s, "likewise its slope");
  });
  form.list("processes", watch.processes, "of the job",
            [&](WatchedProcess& process) { describe_process(form, process); });
  form.list("gpus", watch.gpus, "of the machine", [&](WatchedGpu& gpu) {
    form.object("", "", [&] {
      form.shown("name", gpu.name, "as NVML says it");
      form.shown("busy", gpu.busy, "share of the time in which a kernel ran, the mean",
                 kNotNegative);
      form.shown("memory_used_bytes", gpu.memory_used, "the mean", kNotNegative);
      form.shown("memory_bytes", gpu.memory, "that it has", kNotNegative);
      form.shown("of_job", gpu.is_of_job, "a process of the job computes on it");
    });
  });
  describe_machine(form, watch);
  form.texts("unseen", watch.unseen, "what could not be seen");
  form.texts("notes", watch.notes, "what else is to be known");
}

}  // namespace loaderscope::watch
