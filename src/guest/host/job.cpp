#include "guest/host/job.h"
#include "loaderscope/run_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/sleep.h"
#include "base/thread_meter.h"
#include "guest/host/job_record.h"
#include "record/partial_run.h"

namespace loaderscope::guest {
namespace {

// Each look takes a core from the program for a moment. What it writes between two looks must fit.
constexpr Nanos kLookEvery = 20 * kMillisecond;
constexpr Nanos kLookAtFullEvery = 5 * kMillisecond;
constexpr double kFull = 1.0 / 16;

std::string own_path_list(const GuestFiles& files) {
  const char* before = std::getenv("PYTHONPATH");
  std::string path = files.python_path();
  if (before != nullptr && *before != '\0') path += std::string(":") + before;
  return path;
}

Variables variables_for(const GuestFiles& files) {
  return {{"LOADERSCOPE_GUEST", files.folder()}, {"PYTHONPATH", own_path_list(files)}};
}

std::string why_no_hook_cost(const RunConfig& config, const RunContext& context) {
  if (context.guest.replay != nullptr) return "batches are replayed";
  return config.declared.inject.value.empty() ? "" : "delays are injected";
}

}  // namespace

Job::Job(const RunConfig& config, const RunContext& context,
         const std::vector<std::string>& command)
    : config_(config),
      context_(context),
      command_(command),
      files_(settings_json(config, context.guest.replay)),
      host_(files_.socket_path()),
      output_(context.guest.program_output),
      child_(command, variables_for(files_), output_.descriptor(), config.program.directory.value,
             ProcessGroup::ours),
      started_(monotonic_now()),
      training_(config),
      messages_(config, training_, watch_),
      hooks_(why_no_hook_cost(config, context)),
      hangs_({training_, host_.members(), messages_, watch_}, config.measure.hang_after),
      unseen_(config),
      progress_beat_(context) {
  for (const std::string& note : notes_on_binding(config)) messages_.note(note);
}

std::string Job::program() const {
  if (config_.program.loader.given) return "--loader " + shown_text(config_.program.loader.value);
  std::string words;
  for (const std::string& word : command_) words += (words.empty() ? "" : " ") + word;
  return shown_text(words);
}

std::string Job::with_batch_function(const std::string& place) const {
  return "loaderscope run --batch-function " + shown_text(place) + " -- " + program();
}

// Between two passes far more time passes only if this process is stopped.
void Job::notice_stop(Nanos& last_pass) {
  const Nanos now = monotonic_now();
  if (last_pass != 0 && now - last_pass > kSecond) resumed_at_ = now;
  last_pass = now;
}

RunRecord Job::run() {
  Nanos ended_at = 0, last_pass = 0;
  for (;;) {
    notice_stop(last_pass);
    measure();
    if (!status_ && (status_ = child_.status())) {
      ended_at = monotonic_now();
      measure();  // reads the last messages and reports
      if (broke_off_.empty()) look_for_end_of_window();
    }
    look_for_signals();  // also those that ended the program
    if (status_ && !has_more_to_say(monotonic_now() - ended_at)) break;
    stop_harder();
    if (broke_off_.empty()) {
      if (!status_) look_for_end_of_window();
      watch_for_a_hang();
      watch_for_unequal_ranks();
      watch_for_silence();
      watch_for_a_loader();
      say_maker();
      watch_injections();
    }
    if (!complete_) progress_beat_.look([this] { return training_.progress(account_); });
    sleep_until(monotonic_now() + (filled_ < kFull ? kLookEvery : kLookAtFullEvery));
  }
  end_or_leave_the_rest();
  measure();
  trains_on_ = trains_on_ || has_running_trainer();  // a daemon may have joined meanwhile
  if (!child_.has_descendants()) consumption_.job_ended();
  const std::string failure = check_end();
  if (failure.empty()) return record();
  if (training_.first_measured() == nullptr) throw RunError(failure);
  RunRecord measured = record();
  const bool has_steps = std::any_of(measured.ranks.begin(), measured.ranks.end(),
                                     [](const RankRecord& rank) { return rank.steps() > 0; });
  if (!has_steps) throw RunError(failure);
  throw PartialRunError(RunError(failure), std::move(measured));
}

// Measures once. A failure ends measuring, and not the program.
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
  host_.look([this](GuestProcess& member, const std::string& message) {
    messages_.receive_report(member, message);
  });
  read_pages();
  training_.advance(false);
  const std::vector<JobProcess> processes = running();
  segments_.look(processes);
  if (training_.is_window_open()) {
    watch_.look(processes);
    memory_.look(processes, false);
  }
  host_.release([this](const GuestProcess& member) {
    return member.page() == nullptr ||
           (member.is_read_to_end && training_.get_process(member).release(*member.page()));
  });
}

void Job::read_pages() {
  const Nanos at = monotonic_now();
  filled_ = 0;
  for (const auto& member : host_.members()) {
    if (member->page() == nullptr) continue;
    if (!member->is_distrusted())  // the rings of a distrusted process are never emptied
      filled_ = std::max(filled_, PageRings(*member->page()).filled());
    // asked before reading, so that its last reports are read too
    const bool ended = member->ended();
    const Writer writer = member->is_worker ? Writer{member->worker, member->iterator} : Writer{};
    if (!member->is_distrusted() && !training_.get_process(*member).read(*member->page(), writer)) {
      member->mark_corrupt();
      messages_.note(
          fmt::format("process {} has written over the memory that it shares with "
                      "loaderscope: what it did from then on is not known",
                      member->pid));
    }
    own_cost_.look(*member, at, training_.is_window_open());
    processes_.insert(member->pid);
    member->is_read_to_end = ended;
    // Ends the waits of a distrusted process, because their length is unknown.
    if (!member->is_worker && (ended || member->is_distrusted())) training_.ended(*member);
  }
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
  const std::int64_t restarted = training_.restarted_windows();
  const bool is_new = !consumption_.begun() || restarted > restarted_windows_;
  if (training_.window_begun() && is_new) {
    consumption_.window_begins(running());
    own_cost_.begin();
    restarted_windows_ = restarted;
  }
  if (!consumption_.begun() || consumption_.ended()) return;
  const std::vector<JobProcess> processes = running();
  if (training_.windows_ended()) memory_.look(processes, true);
  consumption_.look(processes, memory_, training_.windows_ended(), training_.window_end());
}

// Checks for the end of the window. The overhead is measured within the window and after it, with
// hooks on and off.
void Job::look_for_end_of_window() {
  const bool has_duration = config_.measure.duration > 0 &&
                            (config_.measure.epochs == 0 || config_.measure.duration.given);
  const bool has_end = config_.measure.steps > 0 || has_duration;
  if (training_.windows_ended()) {
    const bool ends = !config_.measure.hook_cost || hooks_.look_after_window(training_.seen());
    if (!std::exchange(complete_, true)) say_window_ended(ends);
    if (ends) begin_to_stop();
  } else if (!has_end) {
    hooks_.meanwhile(training_.seen());
  }
  host_.time_stages(hooks_.timing());
}

// Prints why the program ends early, or why it does not end yet.
void Job::say_window_ended(bool ends) const {
  if (!config_.program.command.given) return;
  const std::string window = config_.measure.steps > 0
                                 ? fmt::format("--steps {}", config_.measure.steps.value)
                                 : "--duration " + duration_to_text(config_.measure.duration);
  output_.say(fmt::format("{} is measured; the program {}", window,
                          ends ? "is asked to end"
                               : "runs on for up to a minute, alternately with and without hooks, "
                                 "to measure their overhead"));
}

RunRecord Job::record() {
  RunRecord record;
  record.engine = config_.engine.value;
  record.config = config_;
  record.simulated = device_kind(config_.trainer.device.value) == DeviceKind::simulated;
  record.interrupted = second_signal_.has_value();
  record.lost_spans = host_.lost() + training_.left_out();
  record.contention_known = RunQueueMeter().known();
  training_.advance(true);
  record.metrics = consumption_.metrics(training_.window_end());
  record.details = consumption_.other_programs();
  add_ranks(record, training_.rank_histories(), started_);
  hooks_.say(record, own_cost_);
  note_measured_loader(record, training_);
  say_changes(record);
  say_unmeasured(record);
  add_metrics(record, training_.first_measured(), messages_, watch_, memory_, started_);
  return record;
}

}  // namespace loaderscope::guest
