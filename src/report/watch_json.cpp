// Members of the result of a watched job.
#include <algorithm>

#include "base/old_words.h"
#include "report/kinds.h"

namespace loaderscope::watch {
namespace {

void describe_shares(ResultVisitor& form, std::string_view name, std::string_view sentence,
                     Shares& shares) {
  form.object(name, sentence, [&] {
    form.real("user", shares.user, "CPU time of all its threads, of the time", kNotNegative);
    form.real("system", shares.system, "CPU time of all its threads in the kernel, of the time",
              kNotNegative);
    form.real("no_core", shares.no_core, "ready to run, and without a core", kNotNegative);
    for (std::size_t i = 0; i < kDoings; ++i) {
      const DoingWord& word = doing_word(static_cast<ThreadActivity>(i));
      form.real(word.name, shares.waits[i], word.sentence, kNotNegative);
    }
  });
}

void describe_process(ResultVisitor& form, WatchedProcess& process) {
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
    form.text("python_line", process.line, "the line of Python that it runs; empty: not known");
  });
}

void describe_machine(ResultVisitor& form, Watch& watch) {
  WatchedMachine& machine = watch.machine;
  form.object("machine", "what it runs on", [&] {
    form.real("cores", machine.cores, "that the job may use", kNotNegative);
    form.real("busy_cores", machine.busy_cores, "of those that the job may be put on, by anybody",
              kNotNegative);
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

void describe_map_results(ResultVisitor& form, MapResults& results) {
  form.object("map_results", "of Hugging Face's datasets, in files that the job has mapped", [&] {
    form.whole("found", results.found, "older than the job: they lay in the cache");
    form.whole("made", results.made, "since it began");
    form.texts("being_written", results.being_written, "files that were last seen to be");
  });
}

void describe_waits(ResultVisitor& form, Watch& watch) {
  BatchWaits& waits = watch.waits;
  form.object("waits", "what trainers wait for batches: an estimate", [&] {
    form.flag("known", waits.is_known, "an estimate from outside was possible");
    form.real("share", waits.share, "of the time", kShare);
    form.whole("count", waits.waits, "that looks met");
    form.real("mean_s", waits.mean_s, "how long those were", kNotNegative);
    form.real("look_every_s", waits.every_s, "distance of looks", kNotNegative);
    form.text("basis", waits.basis, "what it is read from, or why it is not known");
  });
}

// Sets the name from the table of thresholds, which outlives the text that was read.
void describe_name(ResultVisitor& form, ThresholdOutcome& outcome) {
  std::string name(outcome.name);
  form.text("name", name, "what is looked at");
  if (!form.reads()) return;
  for (const Threshold& one : thresholds()) {
    if (one.row.name == name) outcome.name = one.row.name;
  }
  if (outcome.name.empty()) form.refuse("has a threshold that is not known here");
}

void describe_thresholds(ResultVisitor& form, Watch& watch) {
  form.list("thresholds", watch.thresholds, "what is held against it",
            [&](ThresholdOutcome& outcome) {
              form.object("", "", [&] {
                describe_name(form, outcome);
                form.real_or_null("value", outcome.value_or_reason.value, "a share, or seconds",
                                  kNotNegative);
                form.optional("met", outcome.is_met, AbsentValue::null,
                              [&](bool& met) { form.flag("met", met, "null: there is no value"); });
                form.text("why_not", outcome.value_or_reason.why_not, "there is no value");
              });
            });
}

// Words of earlier versions are read too.
void describe_limit(ResultVisitor& form, Limit& limit) {
  const std::vector<std::string_view>& names = limit_names();
  std::vector<std::string_view> words = names;
  if (form.reads()) {
    for (const OldWord& word : old_words())
      if (word.kind == WordKind::limit) words.push_back(word.old_name);
  }
  std::string name(name_of(limit));
  form.word("limit", name, words, "what it is");
  const auto found = std::find(names.begin(), names.end(), current_word(WordKind::limit, name));
  if (form.reads() && found != names.end()) limit = static_cast<Limit>(found - names.begin());
}

}  // namespace

void describe_watch(ResultVisitor& form, Watch& watch) {
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
    describe_limit(form, watch.limit);
    form.text("sentence", watch.sentence, "the answer");
    form.text("advice", watch.advice, "what to do; empty: nothing");
  });
  form.texts("stands", watch.hang_states, "where the processes of a job that hangs wait");
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
    form.real_or_null("growth_bytes_per_s", watch.worker_growth_per_s,
                      "the mean slope of their private memory");
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
  form.optional("map_results", watch.map_results, AbsentValue::left_out,
                [&](MapResults& results) { describe_map_results(form, results); });
  form.texts("unseen", watch.unseen, "what could not be seen");
  form.texts("notes", watch.notes, "what else is to be known");
}

}  // namespace loaderscope::watch
