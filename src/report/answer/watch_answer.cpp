// The default answer of watch: what the trainer waits for, and what its processes do.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "analysis/wording.h"
#include "report/answer/answers.h"
#include "report/answer/plain_figures.h"

namespace loaderscope::watch {
namespace {

constexpr double kMinProcessShare = 0.05;  // share of a process's time

std::string trainer_waits(const Watch& watch) {
  if (!watch.waits.is_known) return "Whether the trainer waits is not known";
  return fmt::format("The trainer waits for batches {} of the time",
                     whole_percent(watch.waits.share));
}

// "its only worker", "its 4 workers", "the workers"
std::string workers_in_words(const Watch& watch) {
  const std::int64_t workers = watch.count(Role::worker);
  if (workers == 1) return "its only worker";
  if (workers == 0 || watch.count(Role::trainer) > 1) return "its workers";
  return "its " + plural(workers, "worker");
}

std::string_view verb_ending(const Watch& watch) {
  return watch.count(Role::worker) == 1 ? "s" : "";
}

std::string watch_headline(const Watch& watch) {
  const std::string begin = trainer_waits(watch), workers = workers_in_words(watch);
  const std::string_view s = verb_ending(watch);
  switch (watch.limit) {
    case Limit::cpu:
      return fmt::format("{}: {} never rest{}", begin, workers, s);
    case Limit::storage:
      return fmt::format("{}: {} wait{} for storage", begin, workers, s);
    case Limit::network:
      return fmt::format("{}: {} wait{} for the network", begin, workers, s);
    case Limit::waits:
      return fmt::format("{}: {} sleep{} or wait{} for locks", begin, workers, s, s);
    case Limit::contention:
      return fmt::format("{}: {} wait{} for a core", begin, workers, s);
    case Limit::quota:
      return fmt::format("{}: a CPU quota holds {} back", begin, workers);
    case Limit::handover:
      return fmt::format("{}: finished batches reach it late", begin);
    case Limit::trainer:
      if (watch.waits.is_known)
        return fmt::format("The training itself is the limit: it waits {} of the time",
                           whole_percent(watch.waits.share));
      break;
    case Limit::unknown:
    case Limit::hang:
      break;
  }
  return watch.sentence.empty() ? "Cannot tell what the job waits for"
                                : plain_figures(capitalised(watch.sentence));
}

// Advice without the clauses that have a word of the long answer only.
std::string advice_in_words(const std::string& advice) {
  std::string text = plain_figures(advice);
  for (const std::string_view word : {" share ", "capacity"}) {
    const std::size_t at = text.find(word);
    if (at == text.npos) continue;
    const std::size_t clause = std::max(text.rfind(", ", at) + 1, text.rfind("; ", at) + 1);
    text.resize(clause > 0 ? clause - 1 : 0);
  }
  if (const std::size_t colon = text.find(": ");
      text.starts_with("num_workers=") && colon != text.npos)
    text[colon] = ';';
  return has_technical_word(text) ? "" : text;
}

struct DoingShare {
  std::string_view verb;
  double share;
};

// "compute 100 %, wait for storage 20 %"
std::string doings_in_words(std::vector<DoingShare> doings) {
  constexpr std::size_t kMaxDoings = 3;
  std::stable_sort(doings.begin(), doings.end(),
                   [](const DoingShare& a, const DoingShare& b) { return a.share > b.share; });
  std::string text;
  for (std::size_t i = 0; i < std::min(doings.size(), kMaxDoings); ++i)
    if (doings[i].share >= kMinProcessShare)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", doings[i].verb,
                          whole_percent(doings[i].share));
  return text;
}

std::string doings_of_workers(const Shares& shares, bool is_one) {
  using Activity = ThreadActivity;
  std::vector<DoingShare> doings = {
      {is_one ? "computes" : "compute", shares.activity_share(Activity::runs)},
      {is_one ? "waits for a core" : "wait for a core", shares.no_core},
      {is_one ? "rests" : "rest", shares.activity_share(Activity::queue)},
      {is_one ? "waits for storage" : "wait for storage", shares.activity_share(Activity::storage)},
      {is_one ? "waits for the network" : "wait for the network",
       shares.activity_share(Activity::network)},
      {is_one ? "waits for locks" : "wait for locks", shares.activity_share(Activity::lock)},
      {is_one ? "sleeps" : "sleep", shares.activity_share(Activity::sleep)},
  };
  return doings_in_words(std::move(doings));
}

std::string doings_of_trainer(const Watch& watch) {
  double computes = 0, trainers = 0;
  for (const WatchedProcess& process : watch.processes) {
    if (process.role != Role::trainer) continue;
    computes += process.shares.activity_share(ThreadActivity::runs);
    ++trainers;
  }
  std::vector<DoingShare> doings;
  if (watch.waits.is_known) doings.push_back({"waits for a batch", watch.waits.share});
  if (trainers > 0) doings.push_back({"computes", computes / trainers});
  std::string text = doings_in_words(std::move(doings));
  if (watch.waits.is_known && watch.waits.waits > 0 && watch.waits.mean_s > 0)
    text +=
        fmt::format("{}each wait takes {}", text.empty() ? "" : "; ",
                    plain_figures(format_duration(static_cast<Nanos>(watch.waits.mean_s * 1e9))));
  return text;
}

std::string doings_of_gpus(const Watch& watch) {
  if (watch.gpus.empty()) return "none seen here";
  const bool is_known = std::any_of(watch.gpus.begin(), watch.gpus.end(),
                                    [](const WatchedGpu& gpu) { return gpu.is_of_job; });
  double least = 1;
  std::int64_t count = 0;
  for (const WatchedGpu& gpu : watch.gpus) {
    if (is_known && !gpu.is_of_job) continue;
    least = std::min(least, gpu.busy);
    ++count;
  }
  return count == 1 ? fmt::format("busy {}", whole_percent(least))
                    : fmt::format("{} GPUs, the least busy one {}", count, whole_percent(least));
}

std::string cores_in_words(const WatchedMachine& machine) {
  std::string text = fmt::format("{:.1f} of {:g} busy", machine.busy_cores, machine.cores);
  if (machine.other_cores >= 0.1)
    text += fmt::format(", {:.1f} by other programs", machine.other_cores);
  if (machine.other_cores >= 0.1 && !machine.others.empty())
    text += " (" + machine.others.front().name + ")";
  return text;
}

// "python train.py, process 19102, watched for 8 s"
std::string watched_job(const Watch& watch) {
  constexpr std::size_t kMaxProgram = 36;
  std::string program = shown_text(watch.program);
  if (program.size() > kMaxProgram) program = program.substr(0, kMaxProgram - 3) + "...";
  std::string text = fmt::format("{}{}process {}, watched for {:.0f} s", program,
                                 program.empty() ? "" : ", ", watch.pid, watch.watched_s);
  if (!watch.end.empty()) text += "; it " + watch.end;
  return text;
}

TextTable watched_table(const Watch& watch) {
  TextTable table("lw");
  if (watch.pid > 0) table.add({"job", watched_job(watch)});
  const std::int64_t trainers = watch.count(Role::trainer), workers = watch.count(Role::worker);
  if (trainers > 0)
    table.add({trainers == 1 ? "trainer" : plural(trainers, "trainer"), doings_of_trainer(watch)});
  if (watch.workers_watched_s > 0 && watch.workers_seen > 0)
    table.add({plural(workers > 0 ? workers : watch.workers_seen, "worker"),
               doings_of_workers(watch.workers, workers == 1)});
  if (watch.machine.cores > 0) table.add({"cores", cores_in_words(watch.machine)});
  if (!watch.machine.disk.empty())
    table.add(
        {"disk", fmt::format("busy {}, reads {}", whole_percent(watch.machine.disk_busy),
                             plain_figures(format_byte_rate(watch.machine.disk_read_per_s)))});
  if (!table.empty()) table.add({"GPU", doings_of_gpus(watch)});
  return table;
}

LineTone tone_of_watch(const Watch& watch) {
  constexpr double kMuchWaiting = 0.2;
  if (watch.limit == Limit::trainer) return LineTone::good;
  if (watch.limit == Limit::unknown) return LineTone::plain;
  return watch.limit == Limit::hang || watch.waits.share >= kMuchWaiting ? LineTone::bad
                                                                         : LineTone::warning;
}

}  // namespace

Answer answer_watch(const Watch& watch) {
  Answer answer;
  answer.headline = watch_headline(watch);
  answer.tone = tone_of_watch(watch);
  if (const std::string advice = advice_in_words(watch.advice); !advice.empty()) {
    const bool is_fix = watch.limit != Limit::unknown && !advice.starts_with("loaderscope ");
    answer.first.push_back({is_fix ? "Fix" : "Next", advice});
  }
  if (watch.hang_states.size() > 1)
    answer.first.push_back({"Why", plain_figures(watch.hang_states[1])});
  answer.table = watched_table(watch);
  answer.last.push_back({"More", "-v    Learn: help running-job"});
  return answer;
}

}  // namespace loaderscope::watch
