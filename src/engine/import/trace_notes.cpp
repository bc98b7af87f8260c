// Writes the notes of a trace: its files and tools, and the facts that it lacks.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/import/sampled_stacks.h"
#include "engine/import/trace_record.h"

namespace loaderscope::traces {
namespace {

using Notes = std::vector<std::string>;

// Wilson's interval of a share that was counted.
std::string counted_share(std::int64_t part, std::int64_t all) {
  constexpr double kZ = 1.96;
  const auto n = static_cast<double>(std::max<std::int64_t>(all, 1));
  const double share = static_cast<double>(part) / n, z = kZ * kZ / n;
  const double middle = (share + z / 2) / (1 + z);
  const double half = kZ * std::sqrt(share * (1 - share) / n + z / (4 * n)) / (1 + z);
  return fmt::format("{:.1f} %, 95 %: {:.1f} to {:.1f}", 100 * share, 100 * (middle - half),
                     100 * (middle + half));
}

void add_note_of_samples(Notes& notes, const TracedRun& run) {
  const SampledShares& sampled = *run.sampled;
  const std::int64_t own = sampled.counts.at(static_cast<std::size_t>(Activity::own));
  notes.push_back(fmt::format(
      "read from samples of stacks ({}): {} of the training thread's {} are in the DataLoader "
      "({}); what takes less than the time between two samples is not seen",
      run.tool, sampled.all - own, sampled.all, counted_share(sampled.all - own, sampled.all)));
  if (!sampled.in_order)
    notes.push_back(
        "the file does not contain when a stack was seen: what the thread did before and after its "
        "training counts too, but for imports");
}

void add_note_of_steps(Notes& notes, const WalkedRun& walked) {
  const StepBasis basis = walked.ranks.front().steps.basis;
  notes.push_back(fmt::format("read from a trace of {}; steps are {}", walked.run.tool,
                              basis == StepBasis::marks ? "as they were marked"
                              : basis == StepBasis::loader
                                  ? "from one ask for a batch to the next"
                                  : "not marked: --step-range NAME takes a range of "
                                    "the program's"));
}

void add_notes_of_what_is_there(Notes& notes, const WalkedRun& walked) {
  const TracedRun& run = walked.run;
  if (!walked.has_gpu())
    notes.push_back(
        "no GPU was recorded: compute is all that the host did but wait for its DataLoader");
  if (run.has_loader)
    notes.push_back(
        "why its DataLoader was late no trace shows: loaderscope run -- python train.py ... looks "
        "into it");
  if (!run.has_loader && !run.no_loader.empty()) notes.push_back(run.no_loader);
  if (walked.has_gpu() && !run.has_calls)
    notes.push_back("no CUDA calls were recorded: what the host did before a launch is not known");
}

void add_notes_of_ranks(Notes& notes, const WalkedRun& walked) {
  if (walked.ranks.size() < 2 || !walked.has_gpu()) return;
  constexpr const char* kUntold = "which rank was waited for in collectives is unknown: ";
  if (!walked.run.is_one_host)
    notes.push_back(
        fmt::format("{}the traces are of several machines, whose clocks differ", kUntold));
  if (!walked.waits.untold.empty()) notes.push_back(kUntold + walked.waits.untold);
  std::size_t last = 0;
  std::int64_t all = 0;
  for (std::size_t r = 0; r < walked.waits.ranks.size(); ++r) {
    all += walked.waits.ranks[r].came_last;
    if (walked.waits.ranks[r].came_last > walked.waits.ranks[last].came_last) last = r;
  }
  if (all == 0) return;
  notes.push_back(
      fmt::format("in collectives the others waited for the DataLoader of {} most often: {} of {} "
                  "waits",
                  walked.run.processes[walked.places[last].process].name,
                  walked.waits.ranks[last].came_last, all));
}

void add_notes_of_what_is_left_out(Notes& notes, const WalkedRun& walked) {
  Nanos overhead = 0, unknown = 0;
  for (const WalkedRank& rank : walked.ranks) {
    for (const WalkedStep& step : rank.walked) overhead += step.parts.overhead;
    unknown += rank.gaps[std::size_t(GapKind::unknown)].time;
  }
  if (unknown > 0 && !walked.run.more_to_record.empty()) notes.push_back(walked.run.more_to_record);
  if (overhead > 0)
    notes.push_back(fmt::format("{:.3f} s in which the GPU waited for the tracing are left out",
                                seconds(overhead)));
  if (walked.run.unusable > 0)
    notes.push_back(fmt::format("{} events had no times that make sense, and are left out",
                                walked.run.unusable));
}

}  // namespace

std::vector<std::string> make_notes(const WalkedRun& walked) {
  Notes notes;
  if (walked.run.sampled) {
    add_note_of_samples(notes, walked.run);
  } else {
    add_note_of_steps(notes, walked);
  }
  add_notes_of_what_is_there(notes, walked);
  add_notes_of_ranks(notes, walked);
  add_notes_of_what_is_left_out(notes, walked);
  notes.insert(notes.end(), walked.run.notes.begin(), walked.run.notes.end());
  return notes;
}

}  // namespace loaderscope::traces
