// Two ways of running the same job, measured as pairs of fresh processes: what differs between
// them, and what so many pairs cannot tell.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiment/compare/accepted.h"
#include "experiment/compare/counts.h"
#include "experiment/compare/quantities.h"
#include "loaderscope/analysis.h"

namespace loaderscope::compare {

// What is kept of one run.
struct SideRun {
  std::int64_t block = 0;  // of A B B A: the four draw the same samples
  std::int64_t arm = 0;    // 0: A, 1: B
  Quantities quantities;
  Counts counts;
  std::vector<Detail> details;  // what the stages are called in the measured program
  double other_cores = 0;       // that other programs and the hypervisor took
  Nanos took = 0;               // with its start and warm-up
};

// One of the two, for people.
struct Arm {
  std::string name;    // "A"
  std::string what;    // "origin/main", "num-workers=2", "build/old/loaderscope"
  std::string commit;  // of a ref; else ""
};

struct Options {
  Nanos budget = 4 * 60 * kSecond;  // of this comparison
  double share = 1;                 // that this is of what was given: others have the rest
  std::int64_t pairs = 0;           // 0: as many as the budget has room for
  double band = 0.02;               // a change within it is none
  double rate_needed = 0;           // samples per second that the training takes; 0: not known
  std::int64_t workers = 0;         // that make them, of all ranks; 0: as the runs have
  double anchor_limit = 0.1;        // of CPU time per sample, since the anchor
  bool only_if_it_matters = false;  // what is slower and leaves the GPU busy fails nothing
  bool must_tell = false;           // what cannot be told fails
  bool more_memory_fails = false;
};

inline void give_share(Options& options, double share) {
  options.budget = static_cast<Nanos>(static_cast<double>(options.budget) * share);
  options.share = share;
}

// How far runs of the same code differ from process to process, as deviations of logarithms.
struct KnownNoise {
  double rate = 0, cpu = 0;
  std::int64_t jobs = 0;  // that showed it; 0: none did, and it is assumed
};
inline constexpr KnownNoise kSpreadOfModel{.rate = 1e-9, .cpu = 1e-9, .jobs = 0};
inline constexpr KnownNoise kAssumedSpread{.rate = 0.05, .cpu = 0.05, .jobs = 0};

struct Commit {
  std::string commit, author, subject;
};

// What a bisection ends with.
struct FirstSlower {
  Commit commit;
  std::int64_t others = 0;  // just before it, of which it may be one as well
};

// B against a commit of long ago: many changes that are small each add up.
struct Anchor {
  Arm arm;
  Estimate change;  // of CPU time per sample, B / anchor - 1; 95 %
  double limit = 0;
  std::int64_t pairs = 0;

  bool is_beyond() const { return change.low > limit; }
  bool cannot_tell() const { return change.low <= limit && change.high > limit; }
};

// All that was measured. Verdicts are computed of it: judge().
struct Comparison {
  std::array<Arm, 2> arms;
  std::string command;    // that both have, for people
  std::string reproduce;  // the command that compares them once more
  std::string file;       // of the repository, that makes the batches; "": not known
  Options options;
  std::int64_t planned_pairs = 0;            // fixed before the first of them
  std::int64_t steps = 0;                    // of each run; 0: as the flags say
  std::int64_t workers = 0;                  // of A, of all ranks
  std::optional<std::int64_t> workers_of_b;  // where it has others
  double cores = 0;
  bool same_flags = true;                     // only the code differs: counts decide
  bool is_of_results = false;                 // one run of each, made apart
  std::vector<std::string> changed_settings;  // of those: "num-workers 0 -> 2"
  std::optional<KnownNoise> known;            // what those are judged by
  std::vector<SideRun> runs;                  // in the order in which they were made
  std::vector<Accepted> accepted;             // slowdowns that fail nothing
  std::string today;                          // "2026-11-23": what was accepted until when
  std::optional<Anchor> anchor;
  std::optional<FirstSlower> first_slower;  // of a bisection: B is it
  std::string same_because;                 // it is the same by construction; "": it was measured
  Nanos spent = 0;
  bool interrupted = false;
  std::vector<std::string> notes;
};

enum class Outcome : std::uint8_t { worse, better, same, cannot_tell };

// What became of one quantity.
struct Difference {
  const QuantityRow* row = nullptr;  // null: of a stage or a cause, `name` says which
  std::string name;                  // "samples-per-s", "decode", "wait-for-decode"
  Scale scale = Scale::ratio;
  bool more_is_worse = true;
  double a = 0, b = 0;  // means, in the quantity's unit
  Estimate change;      // B / A - 1, or B - A in shares; 95 %
  double p = 1;         // that nothing changed, with all the others looked at (Holm)
  Outcome verdict = Outcome::cannot_tell;
  double least_seen = 0;  // the smallest change found with a probability of 80 %
  double spread = 0;      // of runs of one arm, as a deviation of what is tested
};

// A count that both arms repeat exactly.
struct CountChange {
  std::string name;     // of a row, or of a metric
  double a = 0, b = 0;  // per sample

  bool changed() const { return a != b; }
};

// What the program calls a part of the stage that is blamed: a transform, a function.
struct NameChange {
  std::string name;
  double a = 0, b = 0;  // seconds per sample
};

// Whether the GPU would notice.
struct Matters {
  double rate_needed = 0;
  std::int64_t workers = 0, workers_of_b = 0;
  double margin_a = 0, margin_b = 0;  // of the workers' time; below 0 the GPU waits

  bool gpu_waits() const { return margin_b < 0; }
};

struct ComparisonResult {
  Outcome verdict = Outcome::cannot_tell;
  std::vector<Difference> differences;  // what most decides first
  std::vector<CountChange> counts;
  std::vector<std::string> uncounted;  // counts that differ between runs of one arm
  std::int64_t pairs = 0;              // that count
  std::int64_t disturbed = 0;          // runs that were left out
  std::optional<Estimate>
      against_itself;  // the rate of the later of two runs of one arm / the other's - 1
  std::int64_t pairs_of_itself = 0;
  std::optional<Matters> matters;
  std::vector<std::string> new_names, gone_names;  // "augment RandomErasing"
  std::vector<NameChange> name_changes;            // the largest first
  std::int64_t more_pairs = 0;  // that would do where it cannot be told; 0: no number is known

  const Difference* find(std::string_view name) const;
  // The stage or the wait that the verdict is of; null: none.
  const Difference* blamed() const;
  // Null where B is not known to need more.
  const Difference* more_memory() const;
};

// Of all ranks, whose rate is the job's.
std::int64_t workers_of(const RunRecord& record);
void take_workers(const RunRecord& record, std::int64_t arm, Comparison& comparison);  // A first

// What is kept of a run.
SideRun arm_run_of(const RunRecord& record, std::int64_t arm, std::int64_t block);

// Of two results that were measured apart. `known` is how far runs of one arm differ; nothing:
// kAssumedSpread. Their settings may differ. Throws RunError where they cannot be compared.
Comparison of_results(const RunRecord& a, const RunRecord& b,
                      const std::optional<KnownNoise>& known);

// Of the comparison of an anchor with B. Throws RunError where CPU time was not measured.
Anchor anchor_of(const Comparison& since, double limit);

// Pure: of what was measured, as far as it goes.
ComparisonResult judge(const Comparison& comparison);

// One run of an arm, in a fresh process.
struct RunLength {
  std::int64_t steps = 0;   // 0: as long as `duration`
  Nanos duration = 0;       // 0: as the flags say
  std::int64_t warmup = 0;  // steps; 0: as the flags say
  std::int64_t block = 0;   // those of one draw the same samples
};
struct Context {
  std::function<RunRecord(std::int64_t arm, const RunLength& length)> run;  // throws RunError
  // A run of each of two arms, measured one after the other, which start beside each other: of
  // loaders that can be held up before they are made. May be empty.
  std::function<std::array<RunRecord, 2>(std::array<std::int64_t, 2> arms, const RunLength& length)>
      run_two;
  std::function<Nanos()> now;
  std::function<bool()> stopped;
  std::function<void(const Comparison&)> after_run;  // may be empty
  bool has_length = false;                           // the flags say how long a run is
  // Why B must be the same as A, asked behind the first run of A; "": it need not. May be empty.
  std::function<std::string()> same_by_construction;
};

// A first run of each to learn how long they are, then blocks of A B B A: as many as fixed then.
// Throws UsageError where the budget is too short for the fewest, RunError where an arm fails.
void run_pairs(Comparison& comparison, const Context& context);

inline constexpr std::int64_t kMinPairs = 6;
inline constexpr std::int64_t kPairsOfBlock = 2, kRunsOfBlock = 4;

}  // namespace loaderscope::compare
