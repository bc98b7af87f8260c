#include "engine/guest/job.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "engine/guest/job_record.h"
#include "engine/guest/settings.h"
#include "loaderscope/errors.h"
#include "measure/process_end.h"
#include "measure/sleep.h"
#include "measure/thread_meter.h"

namespace loaderscope::guest {
namespace {

constexpr Nanos kLookEvery = 5 * kMillisecond;
// With a program that is to end: until it is asked by a signal, until it is killed, and until its
// processes have said their last.
constexpr Nanos kUntilTerminated = 10 * kSecond;
constexpr Nanos kUntilKilled = 15 * kSecond;
constexpr Nanos kLastWords = kSecond;

std::string own_path_list(const Belongings& belongings) {
  const char* before = std::getenv("PYTHONPATH");
  std::string path = belongings.python_path();
  if (before != nullptr && *before != '\0') path += std::string(":") + before;
  return path;
}

Variables variables_for(const Belongings& belongings) {
  return {{"LOADERSCOPE_GUEST", belongings.folder()}, {"PYTHONPATH", own_path_list(belongings)}};
}

std::string where_to_look(int status) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
    return "where nobody did so, memory ran out: look at dmesg, and at the limits of its container";
  return "what it said of it is above";
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

bool is_success(int status) { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }

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
    look();
    if (!status_ && (status_ = child_.status())) {
      ended_at = monotonic_now();
      look();  // what it wrote last
      look_for_end_of_window();
    }
    const auto& members = host_.members();
    const bool silent = std::all_of(members.begin(), members.end(),
                                    [](const auto& member) { return member->ended(); });
    if (status_ && (silent || monotonic_now() - ended_at > kLastWords)) break;
    look_for_signals();
    watch_consumption();
    if (!status_) look_for_end_of_window();
    stop_harder();
    watch_for_silence();
    watch_injections();
    progress_beat_.look([this] { return trainers_.progress(); });
    sleep_until(monotonic_now() + kLookEvery);
  }
  left_behind_ = child_.has_offspring();
  const std::vector<JobProcess> still_there = running();
  trains_on_ = std::any_of(still_there.begin(), still_there.end(),
                           [](const JobProcess& process) { return !process.is_worker; });
  child_.end_all();
  consumption_.job_ended();
  remove_shared_memory_of(processes_, began_);
  look();
  check_end();
  return record();
}

void Job::look() {
  host_.look(
      [this](Member& member, const std::string& message) { messages_.hear(member, message); });
  for (const auto& member : host_.members()) {
    if (member->page() == nullptr) continue;
    const Writer writer = member->is_worker ? Writer{member->worker, member->iterator} : Writer{};
    trainers_.of(*member).read(*member->page(), writer);
    processes_.insert(member->pid);
    if (!member->is_worker && member->ended()) trainers_.ended(member->pid);
  }
  trainers_.advance(false);
  if (trainers_.in_window()) watch_.look(running());
  host_.let_go([this](const Member& member) {
    return member.page() == nullptr || trainers_.of(member).let_go(*member.page());
  });
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

void Job::check_end() const {
  if (!messages_.refusal().empty()) throw RunError(messages_.refusal());
  if (second_signal_) return;
  const std::string missing = messages_.injected().missing(false);
  if (complete_ && !missing.empty()) throw RunError(missing);
  if (complete_) return;
  const std::string end = spell_end(*status_);
  if (!messages_.failure().empty() && !is_success(*status_)) {
    throw RunError(
        fmt::format("{}: {}: {}; its traceback is above", program(), end, messages_.failure()));
  }
  if (!is_success(*status_)) {
    throw RunError(fmt::format("{}: {}; {}", program(), end, where_to_look(*status_)));
  }
  if (belongings_.pythons_seen() == 0) {
    throw RunError(program() +
                   ": no Python was started that could be measured; name a Python program, and "
                   "leave out Python's own flags -E, -I and -S");
  }
  if (left_behind_ && (trains_on_ || trainers_.first_measured() == nullptr)) {
    throw RunError(program() +
                   ": ended, and left processes behind to go on without it; start it in the "
                   "foreground");
  }
  if (trainers_.first_measured() == nullptr) {
    const std::string& unseen = messages_.not_looked_into();
    throw RunError(
        program() + ": ended without taking a batch from a torch.utils.data.DataLoader" +
        (unseen.empty() ? "; name a program that does" : " that could be measured: " + unseen));
  }
  if (!missing.empty()) throw RunError(missing);
}

RunRecord Job::record() {
  RunRecord record;
  record.engine = config_.engine.value;
  record.config = config_;
  record.simulated = config_.device.value == "sim";
  record.interrupted = second_signal_.has_value();
  record.lost_spans = host_.lost();
  record.contention_known = RunQueueMeter().known();
  trainers_.advance(true);
  record.metrics = consumption_.metrics(trainers_.window_end());
  record.details = consumption_.other_programs();
  put_trainings(record, trainers_.by_rank(), started_);
  hooks_.say(record);
  say_which_loader(record, trainers_);
  put_beside_account(record, trainers_.first_measured(), messages_, watch_);
  return record;
}

}  // namespace loaderscope::guest
