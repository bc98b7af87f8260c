#include "guest/host/job.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "base/sleep.h"
#include "base/thread_meter.h"
#include "guest/host/job_record.h"
#include "guest/host/settings.h"
#include "loaderscope/errors.h"

namespace loaderscope::guest {
namespace {

constexpr Nanos kLookEvery = 5 * kMillisecond;
// With a program that is to end: until it is asked by a signal, until it is killed, and until its
// processes have said their last.
constexpr Nanos kUntilTerminated = 10 * kSecond;
constexpr Nanos kUntilKilled = 15 * kSecond;
constexpr Nanos kLastWords = kSecond;
// Until workers have seen that their trainer is gone: PyTorch's look every five seconds.
constexpr Nanos kUntilWorkersEnd = 8 * kSecond;
constexpr Nanos kUntilHelpersEnd = 6 * kSecond;  // of a program that was killed

std::string own_path_list(const Belongings& belongings) {
  const char* before = std::getenv("PYTHONPATH");
  std::string path = belongings.python_path();
  if (before != nullptr && *before != '\0') path += std::string(":") + before;
  return path;
}

Variables variables_for(const Belongings& belongings) {
  return {{"LOADERSCOPE_GUEST", belongings.folder()}, {"PYTHONPATH", own_path_list(belongings)}};
}

// Another job's, in a container that shares the folder, may be named by the same number.
bool is_own_since(const std::filesystem::path& segment, std::time_t begin) {
  struct stat state {};
  return ::stat(segment.c_str(), &state) == 0 && state.st_uid == ::geteuid() &&
         state.st_mtime >= begin;
}

// PyTorch names its segments in /dev/shm by the process; one that was killed may leave some.
void remove_shared_memory_of(const std::set<pid_t>& processes, std::time_t begin) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", ignored)) {
    const std::string name = entry.path().filename().string();
    constexpr std::string_view kPrefix = "torch_";
    if (!name.starts_with(kPrefix)) continue;
    const long process = std::atol(name.c_str() + kPrefix.size());
    if (processes.count(static_cast<pid_t>(process)) > 0 && is_own_since(entry.path(), begin))
      std::filesystem::remove(entry.path(), ignored);
  }
}

std::string why_no_hook_cost(const RunConfig& config, const EngineContext& context) {
  if (context.replay != nullptr) return "batches are replayed";
  return config.inject.value.empty() ? "" : "delays are injected";
}

}  // namespace

Job::Job(const RunConfig& config, const EngineContext& context,
         const std::vector<std::string>& command)
    : config_(config),
      context_(context),
      command_(command),
      host_((belongings_.write("settings.json", settings_json(config, context.replay)),
             belongings_.socket_path())),
      output_(context.program_output),
      child_(command, variables_for(belongings_), output_.descriptor()),
      started_(monotonic_now()),
      began_(std::time(nullptr)),
      trainers_(config),
      messages_(config, trainers_, watch_),
      hooks_(why_no_hook_cost(config, context)),
      unseen_(config),
      progress_beat_(context) {}

std::string Job::program() const {
  if (config_.loader.given) return "--loader " + shown_text(config_.loader.value);
  std::string words;
  for (const std::string& word : command_) words += (words.empty() ? "" : " ") + word;
  return shown_text(words);
}

RunRecord Job::run() {
  Nanos ended_at = 0;
  for (;;) {
    measure();
    if (!status_ && (status_ = child_.status())) {
      ended_at = monotonic_now();
      measure();  // what it wrote last
      if (broke_off_.empty()) look_for_end_of_window();
    }
    if (status_ && !has_more_to_say(monotonic_now() - ended_at)) break;
    look_for_signals();
    stop_harder();
    if (broke_off_.empty()) {
      if (!status_) look_for_end_of_window();
      watch_for_silence();
      watch_for_a_loader();
      watch_injections();
    }
    progress_beat_.look([this] { return trainers_.progress(); });
    sleep_until(monotonic_now() + kLookEvery);
  }
  end_or_leave_the_rest();
  measure();
  if (!child_.has_offspring()) consumption_.job_ended();
  check_end();
  return record();
}

// Whatever fails of what we do, the program does not end with it.
void Job::measure() {
  if (!broke_off_.empty()) return;
  try {
    look();
    watch_consumption();
  } catch (const std::exception& error) {
    broke_off_ = error.what();
    host_.close();
  }
}

void Job::look() {
  host_.look(
      [this](Member& member, const std::string& message) { messages_.hear(member, message); });
  read_pages();
  trainers_.advance(false);
  if (trainers_.in_window()) watch_.look(running());
  host_.let_go([this](const Member& member) {
    return member.page() == nullptr ||
           (member.is_read_to_end && trainers_.of(member).let_go(*member.page()));
  });
}

void Job::read_pages() {
  for (const auto& member : host_.members()) {
    if (member->page() == nullptr) continue;
    const bool ended = member->ended();  // before its page is read: what it wrote last is read too
    const Writer writer = member->is_worker ? Writer{member->worker, member->iterator} : Writer{};
    if (!member->is_distrusted() && !trainers_.of(*member).read(*member->page(), writer)) {
      member->distrust();
      messages_.note(
          fmt::format("process {} has written over the memory that it shares with "
                      "loaderscope: what it did from then on is not known",
                      member->pid));
    }
    processes_.insert(member->pid);
    member->is_read_to_end = ended;
    // Of one that is not believed any more nobody knows how long it waits.
    if (!member->is_worker && (ended || member->is_distrusted())) trainers_.ended(member->pid);
  }
}

// A worker that goes on, and whose trainer is gone.
bool Job::is_orphan(const Member& member) const {
  if (!member.is_worker || member.ended()) return false;
  const auto& members = host_.members();
  return std::none_of(members.begin(), members.end(), [&](const auto& other) {
    return other->page() != nullptr && other->pid == member.trainer && !other->ended();
  });
}

// Orphans end by themselves; others that go on, go on without us.
bool Job::has_more_to_say(Nanos since_end) const {
  const auto& members = host_.members();
  return std::any_of(members.begin(), members.end(), [&](const auto& member) {
    return !member->ended() && since_end <= (is_orphan(*member) ? kUntilWorkersEnd : kLastWords);
  });
}

// What was killed because it would not end takes the rest along, and so does the user's second
// signal.
void Job::end_or_leave_the_rest() {
  left_behind_ = child_.has_offspring();
  const std::vector<JobProcess> still_there = running();
  trains_on_ = std::any_of(still_there.begin(), still_there.end(),
                           [](const JobProcess& process) { return !process.is_worker; });
  if (stop_level_ > 1 || (second_signal_ && second_signal_->came())) {
    child_.end_all();
  } else {
    for (const auto& member : host_.members()) {
      if (is_orphan(*member)) child_.end_offspring(member->pid);
    }
    // Helpers, such as those that keep the workers' shared memory, end behind them.
    const bool killed = status_ && WIFSIGNALED(*status_);
    child_.await_offspring(killed ? kUntilHelpersEnd : kLastWords);
    child_.let_offspring_go();
  }
  if (!child_.has_offspring()) remove_shared_memory_of(processes_, began_);
}

std::vector<JobProcess> Job::running() const {
  std::vector<JobProcess> processes;
  for (const auto& member : host_.members()) {
    if (member->page() != nullptr && !member->ended())
      processes.push_back({member->pid, member->is_worker});
  }
  return processes;
}

void Job::watch_consumption() {
  if (trainers_.window_begun() && !consumption_.begun()) consumption_.window_begins(running());
  if (consumption_.begun() && !consumption_.ended())
    consumption_.look(running(), trainers_.windows_ended(), trainers_.window_end());
}

// With the hooks in or out: their cost is measured meanwhile, and behind it.
void Job::look_for_end_of_window() {
  const bool by_duration = config_.duration > 0 && (config_.epochs == 0 || config_.duration.given);
  const bool has_end = config_.steps > 0 || by_duration;
  if (trainers_.windows_ended()) {
    complete_ = true;
    if (!context_.measure_hooks || hooks_.behind_window(trainers_.seen())) begin_to_stop();
  } else if (!has_end) {
    hooks_.meanwhile(trainers_.seen());
  }
  host_.time_stages(hooks_.timing());
}

void Job::look_for_signals() {
  if (second_signal_) {
    if (second_signal_->came()) child_.signal(SIGKILL);
    return;
  }
  if (context_.stop_signal == nullptr || context_.stop_signal->load() == 0) return;
  second_signal_.emplace();
  child_.signal(SIGINT);
  begin_to_stop();
}

void Job::begin_to_stop() {
  if (stopping_since_ != 0) return;
  stopping_since_ = monotonic_now();
  host_.ask_to_stop();
}

void Job::stop_harder() {
  if (stopping_since_ == 0) return;
  const Nanos since = monotonic_now() - stopping_since_;
  if (since > kUntilTerminated && stop_level_ == 0) {
    child_.signal(SIGTERM);
    ++stop_level_;
  }
  if (since > kUntilKilled && stop_level_ == 1) {
    child_.signal(SIGKILL);
    ++stop_level_;
  }
}

void Job::watch_for_silence() {
  const Nanos allowed = config_.timeout;
  if (allowed == 0 || stopping_since_ != 0 || trainers_.longest_wait() <= allowed) return;
  give_up(fmt::format(
      "{}: no batch came for {}; look at what the workers wait for, or give a longer --timeout",
      program(), show_duration(allowed)));
}

// It may prepare its data for hours: what it is asked to end for is seen in its batches alone.
void Job::watch_for_a_loader() {
  const Nanos since = monotonic_now() - started_;
  const bool is_seen = trainers_.first_measured() != nullptr || trainers_.longest_wait() > 0;
  if (status_ || stopping_since_ != 0 || is_seen || !unseen_.is_due(since)) return;
  output_.say(
      unseen_.sentence(program(), since, belongings_.pythons_seen(), messages_.not_looked_into()));
}

void Job::give_up(const std::string& why) {
  child_.end_all();
  remove_shared_memory_of(processes_, began_);
  throw RunError(why);
}

// A job of hours is not to end in an error that was certain after its first batches.
void Job::watch_injections() {
  constexpr std::int64_t kEnough = 20, kEach = 4;  // batches, and of each worker
  if (stopping_since_ != 0 || !trainers_.each_has_taken(kEnough, kEach)) return;
  const std::string missing = messages_.injected().missing(true);
  if (!missing.empty()) give_up(missing);
}

RunRecord Job::record() {
  RunRecord record;
  record.engine = config_.engine.value;
  record.config = config_;
  record.simulated = config_.device.value == "sim";
  record.interrupted = second_signal_.has_value();
  record.lost_spans = host_.lost() + trainers_.left_out();
  record.contention_known = RunQueueMeter().known();
  trainers_.advance(true);
  record.metrics = consumption_.metrics(trainers_.window_end());
  record.details = consumption_.other_programs();
  put_trainings(record, trainers_.by_rank(), started_);
  hooks_.say(record);
  say_which_loader(record, trainers_);
  say_changes(record);
  say_unmeasured(record);
  put_beside_account(record, trainers_.first_measured(), messages_, watch_);
  return record;
}

}  // namespace loaderscope::guest
