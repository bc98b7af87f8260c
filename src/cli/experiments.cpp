#include "cli/experiments.h"
#include "record/family_traits.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/contention.h"
#include "analysis/totals.h"
#include "analysis/wording.h"
#include "base/thread_meter.h"
#include "cli/progress.h"
#include "job/interrupt.h"
#include "job/version_text.h"
#include "loaderscope/engine.h"
#include "loaderscope/errors.h"
#include "machine/process_counters.h"

namespace loaderscope {
namespace {

constexpr Bytes kLeak = Bytes{64} << 20;  // growth over an experiment that is reported
constexpr std::size_t kSettled = 3;       // runs until allocators have reached their size

// Returns a note if memory grows from run to run until the end.
std::string leak_note(const std::vector<Bytes>& resident) {
  if (resident.size() < 2 * kSettled) return "";
  const Bytes begin = resident[kSettled - 1], middle = resident[resident.size() / 2];
  const Bytes end = resident.back();
  const Bytes grown = end - begin;
  if (grown < kLeak || middle - begin < grown / 4 || end - middle < grown / 4) return "";
  return fmt::format(
      "memory is not given back between the cases: this process grew by {} over {}; later "
      "cases ran with less of it",
      format_size(static_cast<double>(grown)),
      plural(std::ssize(resident) - static_cast<std::ptrdiff_t>(kSettled), "run"));
}

}  // namespace

void refuse_flags_of_run(const RunConfig& given) {
  if (given.answer.require.given)
    throw UsageError("--require: is for a run", "look at the values that --json saves");
  if (given.answer.prove.given)
    throw UsageError("--prove: is for a run", "run the setting that is found");
}

double parse_share(std::string_view text) {
  const bool percent = text.ends_with('%');
  if (percent) text.remove_suffix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  const double share = parse_real(text) / (percent ? 100 : 1);
  if (share > 0 && share < 1) return share;
  throw ValueError("expected a share such as 3% or 0.03");
}

ExperimentRunner::ExperimentRunner(const MachineFacts& machine, std::string profile,
                                   std::function<void(const Experiment&)> save)
    : machine_(machine),
      stop_signal_(catch_stop_signals()),
      save_(std::move(save)),
      load_(read_machine_load("/")),
      profile_(std::move(profile)) {
  known_rates(profile_, machine_, {}, profile_notes_);  // refuses what cannot be read
  const auto progress = std::make_shared<ProgressPrinter>("runs");
  const auto runs = std::make_shared<std::int64_t>(0);
  context_.run = [this](const RunConfig& config) { return run(config); };
  context_.now = monotonic_now;
  context_.stopped = [this] { return stop_signal_.load() != 0; };
  context_.after_run = [this, progress, runs](const Experiment& experiment, Nanos budget) {
    try {
      if (save_) save_(experiment);
    } catch (const RunError&) {
      // All that is measured is kept; the last to save it says what fails.
    }
    progress->show(++*runs, static_cast<double>(experiment.spent) / static_cast<double>(budget));
  };
}

// A program may say the same in every run: what the first one says that fails is enough.
RunRecord ExperimentRunner::run_or_show(const RunConfig& config, const RunContext& context,
                                        const std::string& output) {
  try {
    return run_engine(config, context);
  } catch (const RunError&) {
    if (!shown_ && stop_signal_.load() == 0) {
      std::fputs(output.c_str(), stderr);
      shown_ = true;
    }
    throw;
  }
}

RunRecord ExperimentRunner::run(const RunConfig& case_config) {
  std::string output;
  RunConfig config = case_config;
  config.measure.hook_cost.value = false;
  RunContext context;
  context.stop_signal = &stop_signal_;
  context.guest.program_output = &output;
  RunRecord record = run_or_show(config, context, output);
  record.machine = machine_;
  record.tool_version = version_number();
  look_at_ceilings(record);
  left_shared_ += value_of(record.metrics, metric::memory_left_shm_bytes).value_or(0);
  resident_after_.push_back(read_process_counters().resident);
  return record;
}

void ExperimentRunner::look_at_ceilings(RunRecord& record) {
  if (is_model_engine(record.engine)) return;
  profile_notes_.clear();  // only keep the notes of the last run
  add_known_rates(known_rates(profile_, machine_, record.config.data, profile_notes_), record);
  const double rate = per_second(record, &RankRecord::samples).value_or(0);
  if (rate <= fastest_) return;
  fastest_ = rate;
  ceilings_ = probed_words(machine_ceilings(record));
}

void ExperimentRunner::add_notes(Experiment& experiment, bool with_others) const {
  if (is_model_engine(experiment.base.engine.value)) return;
  for (std::string& note : notes_on_cores(machine_, "/")) experiment.notes.push_back(note);
  const std::optional<MachineLoad> now = read_machine_load("/");
  if (with_others && load_ && now) {
    const double others = other_cores(*load_, *now);
    if (others >= kMuchOfOthers * machine_.cores) {
      experiment.notes.push_back(
          fmt::format("other programs took {:.1f} of {} meanwhile: alone the answer may "
                      "differ",
                      others, format_cores(machine_.cores)));
    }
  }
  experiment.notes.insert(experiment.notes.end(), profile_notes_.begin(), profile_notes_.end());
  if (!ceilings_.empty())
    experiment.notes.push_back(
        fmt::format("the fastest run, of {} samples/s: {}", format_rate(fastest_), ceilings_));
  const std::string leak = leak_note(resident_after_);
  if (!leak.empty()) experiment.notes.push_back(leak);
  if (left_shared_ > 0) {
    experiment.notes.push_back(fmt::format(
        "shared memory is not given back between the cases: the programs left {} in /dev/shm over "
        "{}; later cases ran with less of it",
        format_size(left_shared_), plural(std::ssize(resident_after_), "run")));
  }
}

ExitCode ExperimentRunner::exit_code(const Experiment& experiment) const {
  if (stop_signal_.load() != 0) return exit_code_of_signal(stop_signal_.load());
  return reason_for_nothing(experiment).empty() ? ExitCode::ok : ExitCode::failed;
}

}  // namespace loaderscope
