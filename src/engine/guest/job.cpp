#include "engine/guest/job.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>

#include "engine/guest/settings.h"
#include "loaderscope/errors.h"
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

// "exit code 1", "signal 9 (Killed)"
std::string end_words(int status) {
  if (WIFSIGNALED(status)) {
    return fmt::format("was killed by signal {} ({})", WTERMSIG(status),
                       ::strsignal(WTERMSIG(status)));
  }
  return fmt::format("ended with exit code {}", WEXITSTATUS(status));
}

// What the program's data and training turned out to be, as the settings that they would be.
void put_measured(RunConfig& config, const RankRecord& rank) {
  if (rank.samples > 0) {
    config.delivered_bytes.value = rank.delivered_bytes / rank.samples;
    config.stored_bytes.value.mean =
        static_cast<double>(rank.read_bytes) / static_cast<double>(rank.samples);
  }
  const StageStats& compute = rank.stages[Stage::compute];
  if (config.device.value == "script" && compute.count > 0)
    config.compute.value.mean = static_cast<double>(compute.wall / compute.count);
}

// PyTorch names its segments in /dev/shm by the process; one that was killed may leave some.
void remove_shared_memory_of(const std::set<pid_t>& processes) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", ignored)) {
    const std::string name = entry.path().filename().string();
    constexpr std::string_view kPrefix = "torch_";
    if (!name.starts_with(kPrefix)) continue;
    const long process = std::atol(name.c_str() + kPrefix.size());
    if (processes.count(static_cast<pid_t>(process)) > 0)
      std::filesystem::remove(entry.path(), ignored);
  }
}

bool is_success(int status) { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }

// The last line of an exception's text, which is its own sentence.
std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  const auto begin = text.rfind('\n');
  return begin == text.npos ? text : text.substr(begin + 1);
}

}  // namespace

Job::Job(const RunConfig& config, const EngineContext& context,
         const std::vector<std::string>& command)
    : config_(config),
      context_(context),
      command_(command),
      host_((belongings_.write("settings.json", settings_json(config)), belongings_.socket_path())),
      output_(context.program_output),
      child_(command, variables_for(belongings_), output_.descriptor()),
      started_(monotonic_now()) {}

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
    status_ = child_.status();
    if (status_ && ended_at == 0) ended_at = monotonic_now();
    const auto& members = host_.members();
    const bool silent = std::all_of(members.begin(), members.end(),
                                    [](const auto& member) { return member->ended(); });
    if (status_ && (silent || monotonic_now() - ended_at > kLastWords)) break;
    if (context_.stop_signal != nullptr && context_.stop_signal->load() != 0 && !interrupted_) {
      interrupted_ = true;
      child_.signal(SIGINT);
      begin_to_stop();
    }
    watch_consumption();
    if (windows_ended()) measure_hooks();
    stop_harder();
    watch_for_silence();
    report_progress();
    sleep_until(monotonic_now() + kLookEvery);
  }
  child_.end_all();
  remove_shared_memory_of(processes_);
  look();
  check_end();
  return record();
}

void Job::look() {
  host_.look([this](Member& member, const std::string& message) { on_message(member, message); });
  for (const auto& member : host_.members()) {
    if (member->page() == nullptr) continue;
    const Writer writer = member->is_worker ? Writer{member->worker, member->iterator} : Writer{};
    training_of(*member).read(*member->page(), writer);
  }
  for (auto& [process, training] : trainings_) training.advance(false);
  host_.let_go([this](const Member& member) {
    return member.page() == nullptr || training_of(member).let_go(*member.page());
  });
}

Training& Job::training_of(const Member& member) {
  const pid_t trainer = member.is_worker ? member.trainer : member.pid;
  if (!member.is_worker) ranks_[trainer] = member.rank;
  processes_.insert(member.pid);
  return trainings_.try_emplace(trainer, config_).first->second;
}

// The window of the job is that of its ranks together.
void Job::watch_consumption() {
  std::vector<JobProcess> processes;
  for (const auto& member : host_.members()) {
    if (!member->ended()) processes.push_back({member->pid, member->is_worker});
  }
  consumption_.look(processes);
  const bool begun = std::any_of(trainings_.begin(), trainings_.end(),
                                 [](const auto& entry) { return entry.second.window_begun(); });
  if (begun && !consumption_.begun()) consumption_.window_begins(processes);
  if (consumption_.begun() && !consumption_.ended() && windows_ended())
    consumption_.window_ends(processes);
}

void Job::on_message(Member& member, const std::string& text) {
  try {
    understand(member, text);
  } catch (const nlohmann::json::exception& error) {
    notes_.push_back(std::string("a message was not understood: ") + error.what());
  }
}

void Job::understand(Member& member, const std::string& text) {
  const nlohmann::json message = nlohmann::json::parse(text);
  const std::string what = message.value("what", "");
  if (what == "loader") {
    training_of(member).add_iterator(message.value("iterator", 0), parse_loader_facts(text));
  } else if (what == "degraded") {
    const std::string note = message.value("text", "");
    if (std::find(notes_.begin(), notes_.end(), note) == notes_.end()) notes_.push_back(note);
  } else if (what == "other") {
    ++other_iterators_;
  } else if (what == "order" || what == "draws" || what == "stream") {
    identity_.hear(member.is_worker ? member.trainer : member.pid, message);
  } else if (what == "refused") {
    refusal_ = message.value("text", "");
  } else if (what == "failed" && failure_.empty()) {
    failure_ = last_line(message.value("text", ""));
    if (message.contains("worker") && message["worker"].is_number_integer())
      failure_ = fmt::format("worker {}: {}", message["worker"].get<int>(), failure_);
  }
}

bool Job::windows_ended() const {
  bool any = false;
  for (const auto& [process, training] : trainings_) {
    if (training.loader() == nullptr) continue;
    if (!training.window_ended()) return false;
    any = true;
  }
  return any;
}

void Job::measure_hooks() {
  complete_ = true;
  if (!context_.measure_hooks) return begin_to_stop();
  std::int64_t taken = 0;
  Nanos window = 0, last = 0;
  for (const auto& [process, training] : trainings_) {
    taken += training.taken();
    window = std::max(window, training.window_length());
    last = std::max(last, training.last_taken());
  }
  if (!hook_cost_) hook_cost_.emplace(last, taken, window);
  hook_cost_->look(last, taken);
  host_.time_stages(hook_cost_->timing());
  if (hook_cost_->over()) begin_to_stop();
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
  if (allowed == 0 || stopping_since_ != 0) return;
  const bool silent = std::any_of(trainings_.begin(), trainings_.end(), [&](const auto& entry) {
    const Nanos since = entry.second.asking_since();
    return since != 0 && monotonic_now() - since > allowed;
  });
  if (!silent) return;
  child_.end_all();
  throw RunError(fmt::format(
      "{}: no batch came for {}; look at what the workers wait for, or give a longer --timeout",
      program(), show_duration(allowed)));
}

void Job::report_progress() {
  const Nanos now = monotonic_now();
  if (!context_.on_progress || now - last_progress_ < 200 * kMillisecond) return;
  last_progress_ = now;
  Progress progress;
  progress.fraction = trainings_.empty() ? 0 : 1;
  for (const auto& [process, training] : trainings_) {
    progress.steps += training.steps();
    progress.samples += training.samples();
    progress.fraction = std::min(progress.fraction, training.fraction());
  }
  context_.on_progress(progress);
}

void Job::check_end() const {
  if (!refusal_.empty()) throw RunError(refusal_);
  if (interrupted_ || complete_) return;
  const bool measured = std::any_of(trainings_.begin(), trainings_.end(), [](const auto& entry) {
    return entry.second.loader() != nullptr;
  });
  const std::string end = end_words(*status_);
  if (!failure_.empty() && !is_success(*status_)) {
    throw RunError(fmt::format("{}: {}: {}; its traceback is above", program(), end, failure_));
  }
  if (!is_success(*status_)) {
    throw RunError(fmt::format("{}: {}; what it said of it is above", program(), end));
  }
  if (belongings_.pythons_seen() == 0) {
    throw RunError(program() +
                   ": no Python was started that could be measured; name a Python program, and "
                   "leave out Python's own flags -E, -I and -S");
  }
  if (!measured) {
    throw RunError(program() +
                   ": ended without taking a batch from a torch.utils.data.DataLoader; name a "
                   "program that does");
  }
}

void Job::say_hook_cost(RunRecord& record) const {
  const std::optional<HookCost::Share> share = hook_cost_->share();
  if (!share) return;
  record.notes.push_back(fmt::format(
      "timing the stages costs {:.1f} % of the step rate (on and off by turns for {}: {:.1f} to "
      "{:.1f} %)",
      100 * share->median, show_duration(hook_cost_->duration()), 100 * share->low,
      100 * share->high));
  record.metrics.push_back({"hooks.cost_share", "1",
                            "of the step rate that timing the stages costs",
                            std::round(1e4 * share->median) * 1e-4});
}

RunRecord Job::record() {
  RunRecord record;
  record.engine = "torch";
  record.config = config_;
  record.simulated = config_.device.value == "sim";
  record.interrupted = interrupted_;
  record.lost_spans = host_.lost();
  record.contention_known = RunQueueMeter().known();
  std::vector<std::pair<std::int32_t, Training*>> trainings;
  for (auto& [process, training] : trainings_) {
    training.advance(true);
    if (training.loader() != nullptr) trainings.emplace_back(ranks_[process], &training);
  }
  std::stable_sort(trainings.begin(), trainings.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [rank, training] : trainings) {
    if (record.ranks.empty()) {
      put_into(record.config, *training->loader(), static_cast<std::int64_t>(trainings.size()));
      record.before_first_ask.emplace_back("script", training->first_ask() - started_);
    }
    record.input_ended_in_warmup |= training->input_ended_in_warmup();
    record.ranks.push_back(training->finish());
  }
  if (!record.ranks.empty()) put_measured(record.config, record.ranks.front());
  record.metrics = consumption_.metrics();
  if (hook_cost_) say_hook_cost(record);
  DataIdentity::Faults faults = identity_.faults();
  std::move(faults.metrics.begin(), faults.metrics.end(), std::back_inserter(record.metrics));
  std::move(faults.notes.begin(), faults.notes.end(), std::back_inserter(record.notes));
  if (other_iterators_ > 0) {
    record.notes.push_back(fmt::format(
        "{} of other DataLoaders count as what the training does",
        other_iterators_ == 1 ? "an iteration" : fmt::format("{} iterations", other_iterators_)));
  }
  record.notes.insert(record.notes.end(), notes_.begin(), notes_.end());
  return record;
}

}  // namespace loaderscope::guest
