#include "engine/guest/job.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>

#include "config/resolve_guest.h"
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

std::string where_to_look(int status) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
    return "where nobody did so, memory ran out: look at dmesg, and at the limits of its container";
  return "what it said of it is above";
}

// What the program's data and training turned out to be, as the settings that they would be.
void put_measured(RunConfig& config, const RankRecord& rank) {
  if (rank.samples > 0) {
    config.delivered_bytes.value = rank.delivered_bytes / rank.samples;
    config.stored_bytes.value.mean =
        static_cast<double>(rank.read_bytes) / static_cast<double>(rank.samples);
  }
  const StageStats& compute = rank.stages[Stage::compute];
  if (trains_itself(config) && compute.count > 0)
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
      injected_(config),
      hooks_(why_no_hook_cost(config, context)) {}

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
    look_for_signals();
    watch_consumption();
    measure_hooks();
    stop_harder();
    watch_for_silence();
    watch_injections();
    report_progress();
    sleep_until(monotonic_now() + kLookEvery);
  }
  left_behind_ = child_.has_offspring();
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
    process_of(*member).read(*member->page(), writer);
  }
  for (auto& [pid, trainer] : trainers_) trainer.advance(false);
  watch_processes();
  host_.let_go([this](const Member& member) {
    return member.page() == nullptr || process_of(member).let_go(*member.page());
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

void Job::watch_processes() {
  const bool measures = std::any_of(trainers_.begin(), trainers_.end(), [](const auto& entry) {
    const Training* training = entry.second.measured();
    return training != nullptr && training->in_window();
  });
  if (!measures) return;
  watch_.look(running());
}

TrainerProcess& Job::process_of(const Member& member) {
  const pid_t trainer = member.is_worker ? member.trainer : member.pid;
  if (!member.is_worker) ranks_[trainer] = member.rank;
  processes_.insert(member.pid);
  return trainers_.try_emplace(trainer, config_).first->second;
}

DataIdentity& Job::identity_of(const Member& member, std::int32_t iterator) {
  return identities_[process_of(member).loader_of(iterator)];
}

// The window of the job is that of its ranks together.
void Job::watch_consumption() {
  const bool begun = std::any_of(trainers_.begin(), trainers_.end(), [](const auto& entry) {
    const Training* training = entry.second.measured();
    return training != nullptr && training->window_begun();
  });
  if (begun && !consumption_.begun()) consumption_.window_begins(running());
  if (consumption_.begun() && !consumption_.ended()) consumption_.look(running(), windows_ended());
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
    meet_loader(member, message.value("iterator", 0), parse_loader_facts(text));
    user_code_.hear_loader(message);
  } else if (what == "degraded") {
    const std::string note = message.value("text", "");
    if (std::find(notes_.begin(), notes_.end(), note) == notes_.end()) notes_.push_back(note);
  } else if (what == "gpu") {
    process_of(member).watch_gpu();
  } else if (DataIdentity::understands(what)) {
    identity_of(member, message.value("iterator", -1))
        .hear(member.is_worker ? member.trainer : member.pid, message);
  } else if (what == "spent") {
    user_code_.hear_spent(member.pid, message);
  } else if (what == "threads") {
    watch_.hear({member.pid, member.is_worker}, message);
  } else if (what == "padding") {
    padding_[member.pid] = {message.at("real"), message.at("padded")};
  } else if (what == "injected") {
    injected_.executed(message.value("number", std::size_t{0}));
  } else if (what == "refused") {
    refusal_ = message.value("text", "");
  } else if (what == "failed" && failure_.empty()) {
    failure_ = last_line(message.value("text", ""));
    if (message.contains("worker") && message["worker"].is_number_integer())
      failure_ = fmt::format("worker {}: {}", message["worker"].get<int>(), failure_);
  }
}

void Job::meet_loader(const Member& member, std::int32_t iterator, const LoaderFacts& loader) {
  process_of(member).add_iterator(iterator, loader);
  identity_of(member, iterator).know({member.pid, member.rank, loader.shuffle || loader.iterable});
}

bool Job::windows_ended() const {
  bool any = false;
  for (const auto& [pid, trainer] : trainers_) {
    const Training* training = trainer.measured();
    if (training == nullptr) continue;
    if (!training->window_ended()) return false;
    any = true;
  }
  return any;
}

HookSeries::Seen Job::seen() const {
  HookSeries::Seen seen;
  for (const auto& [pid, trainer] : trainers_) {
    const Training* training = trainer.measured();
    if (training == nullptr) continue;
    seen.window = std::max(seen.window, training->window_length());
    seen.steps = std::max(seen.steps, training->steps());
    seen.taken += training->taken_within_epochs();
    seen.clock = std::max(seen.clock, training->clock_within_epochs());
    const LoaderFacts& loader = training->loader();
    seen.ahead += loader.num_workers * loader.prefetch_factor;
  }
  return seen;
}

void Job::measure_hooks() {
  const bool by_duration = config_.duration > 0 && (config_.epochs == 0 || config_.duration.given);
  const bool has_end = config_.steps > 0 || by_duration;
  if (windows_ended()) {
    complete_ = true;
    if (!context_.measure_hooks || hooks_.behind_window(seen())) begin_to_stop();
  } else if (!has_end) {
    hooks_.meanwhile(seen());
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
  if (allowed == 0 || stopping_since_ != 0) return;
  const bool silent = std::any_of(trainers_.begin(), trainers_.end(), [&](const auto& entry) {
    const Nanos since = entry.second.asking_since();
    return since != 0 && monotonic_now() - since > allowed;
  });
  if (!silent) return;
  give_up(fmt::format(
      "{}: no batch came for {}; look at what the workers wait for, or give a longer --timeout",
      program(), show_duration(allowed)));
}

void Job::give_up(const std::string& why) {
  child_.end_all();
  remove_shared_memory_of(processes_);
  throw RunError(why);
}

// A job of hours is not to end in an error that was certain after its first batches.
void Job::watch_injections() {
  constexpr std::int64_t kEnough = 20, kEach = 4;  // batches, and of each worker
  for (const auto& [pid, trainer] : trainers_) {
    const Training* training = trainer.measured();
    if (training == nullptr) return;
    if (training->taken() < std::max(kEnough, kEach * training->loader().num_workers)) return;
  }
  if (trainers_.empty() || stopping_since_ != 0) return;
  const std::string missing = injected_.missing(true);
  if (!missing.empty()) give_up(missing);
}

void Job::report_progress() {
  const Nanos now = monotonic_now();
  if (!context_.on_progress || now - last_progress_ < 200 * kMillisecond) return;
  last_progress_ = now;
  Progress progress;
  progress.fraction = first_measured() == nullptr ? 0 : 1;
  for (const auto& [pid, trainer] : trainers_) {
    const Training* training = trainer.measured();
    if (training == nullptr) continue;
    progress.steps += training->steps();
    progress.samples += training->samples();
    progress.fraction = std::min(progress.fraction, training->fraction());
  }
  context_.on_progress(progress);
}

const Training* Job::first_measured() const {
  for (const auto& [pid, trainer] : trainers_) {
    if (const Training* training = trainer.measured()) return training;
  }
  return nullptr;
}

void Job::check_end() const {
  if (!refusal_.empty()) throw RunError(refusal_);
  if (second_signal_) return;
  const std::string missing = injected_.missing(false);
  if (complete_ && !missing.empty()) throw RunError(missing);
  if (complete_) return;
  const std::string end = end_words(*status_);
  if (!failure_.empty() && !is_success(*status_)) {
    throw RunError(fmt::format("{}: {}: {}; its traceback is above", program(), end, failure_));
  }
  if (!is_success(*status_)) {
    throw RunError(fmt::format("{}: {}; {}", program(), end, where_to_look(*status_)));
  }
  if (belongings_.pythons_seen() == 0) {
    throw RunError(program() +
                   ": no Python was started that could be measured; name a Python program, and "
                   "leave out Python's own flags -E, -I and -S");
  }
  if (first_measured() == nullptr && left_behind_) {
    throw RunError(program() +
                   ": ended, and left processes behind to go on without it; start it in the "
                   "foreground");
  }
  if (first_measured() == nullptr) {
    throw RunError(program() +
                   ": ended without taking a batch from a torch.utils.data.DataLoader; name a "
                   "program that does");
  }
  if (!missing.empty()) throw RunError(missing);
}

void Job::say_which_loader(RunRecord& record) const {
  const Training* training = first_measured();
  if (training == nullptr) return;
  std::int64_t others = 0;
  for (const auto& [pid, trainer] : trainers_) others += trainer.other_iterations();
  const LoaderFacts& loader = training->loader();
  std::string note = loader.is_opaque
                         ? fmt::format("measured is the {} of {}", loader.dataset, loader.place)
                         : fmt::format("measured is the DataLoader of {}, made at {}",
                                       loader.dataset, loader.place);
  if (others > 0) {
    note += fmt::format("; {} of other DataLoaders count{} as what the training does",
                        others == 1 ? "1 iteration" : fmt::format("{} iterations", others),
                        others == 1 ? "s" : "");
  }
  record.notes.push_back(note);
}

std::vector<Metric> Job::loader_metrics(const RunRecord& record) const {
  std::vector<Metric> metrics;
  double real = 0, padded = 0, batches = 0;
  for (const auto& [process, elements] : padding_) {
    real += static_cast<double>(elements.first);
    padded += static_cast<double>(elements.second);
  }
  if (padded > 0) {
    metrics.push_back({"collate.padding_share", "1",
                       "of the elements of batches whose samples differ in length",
                       1 - real / padded});
  }
  Nanos window = 0;
  for (const RankRecord& rank : record.ranks) {
    window = std::max(window, rank.window());
    batches += static_cast<double>(rank.steps());
  }
  for (Metric& metric : watch_.metrics(batches, seconds(window)))
    metrics.push_back(std::move(metric));
  return metrics;
}

void Job::put_beside_account(RunRecord& record) const {
  const auto move_to = [](auto& to, auto from) {
    std::move(from.begin(), from.end(), std::back_inserter(to));
  };
  DataIdentity::Faults faults;
  if (const Training* training = first_measured()) {
    const auto identity = identities_.find(training->loader().number);
    if (identity != identities_.end()) faults = identity->second.faults();
  }
  move_to(record.metrics, std::move(faults.metrics));
  move_to(record.metrics, loader_metrics(record));
  move_to(record.details, std::move(faults.details));
  move_to(record.details, user_code_.details());
  move_to(record.notes, watch_.notes());
}

// Where every measured step of every rank has the GPU's own times, the account is the GPU's.
void Job::say_gpu(RunRecord& record, const std::vector<const Training*>& trainings) const {
  std::int64_t steps = 0, of_gpu = 0, late = 0;
  Nanos copied = 0;
  Bytes bytes = 0;
  bool watched = false;
  for (const Training* training : trainings) {
    steps += training->steps();
    of_gpu += training->steps_of_gpu();
    const GpuTimeline* gpu = training->gpu();
    if (gpu == nullptr) continue;
    watched = true;
    late += gpu->late();
    copied += gpu->copied();
    bytes += gpu->copied_bytes();
  }
  if (!watched) return;
  if (steps > 0 && of_gpu == steps) record.config.device.value = "cuda";
  record.notes.push_back(
      fmt::format("compute is the time in which kernels ran, by CUPTI, in {} of {} steps{}", of_gpu,
                  steps, of_gpu < steps ? "; in the others it is what the host saw" : ""));
  if (late > 0)
    record.notes.push_back(fmt::format("{} kernels or copies came too late to be counted", late));
  record.metrics.push_back(
      {"gpu.h2d_s", "s", "copies from the host to the GPUs, all together", seconds(copied)});
  record.metrics.push_back({"gpu.h2d_bytes", "bytes", "that were copied from the host to the GPUs",
                            static_cast<double>(bytes)});
}

RunRecord Job::record() {
  RunRecord record;
  record.engine = config_.engine.value;
  record.config = config_;
  record.simulated = config_.device.value == "sim";
  record.interrupted = second_signal_.has_value();
  record.lost_spans = host_.lost();
  record.contention_known = RunQueueMeter().known();
  std::vector<std::pair<std::int32_t, Training*>> trainings;
  for (auto& [pid, trainer] : trainers_) {
    trainer.advance(true);
    if (Training* training = trainer.measured()) trainings.emplace_back(ranks_[pid], training);
  }
  std::stable_sort(trainings.begin(), trainings.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<const Training*> of_ranks;
  for (const auto& [rank, training] : trainings) {
    of_ranks.push_back(training);
    if (record.ranks.empty()) {
      put_into(record.config, training->loader(), static_cast<std::int64_t>(trainings.size()));
      record.before_first_ask.emplace_back("script", training->first_ask() - started_);
    }
    record.input_ended_in_warmup |= training->input_ended_in_warmup();
    record.ranks.push_back(training->finish());
  }
  if (!record.ranks.empty()) put_measured(record.config, record.ranks.front());
  record.metrics = consumption_.metrics();
  say_gpu(record, of_ranks);
  hooks_.say(record);
  say_which_loader(record);
  put_beside_account(record);
  record.notes.insert(record.notes.end(), notes_.begin(), notes_.end());
  return record;
}

}  // namespace loaderscope::guest
