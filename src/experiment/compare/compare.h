// Compares two variants of the same job, measured as pairs of fresh processes. Reports the
// differences, and the limits of this number of pairs.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiment/compare/quantities.h"
#include "loaderscope/analysis.h"

namespace loaderscope::compare {

// Results that are kept of one run.
struct SideRun {
  std::int64_t block = 0;  // number of the block A B B A, whose four runs draw the same samples
  std::int64_t arm = 0;    // 0: A, 1: B
  Quantities quantities;
  Counts counts;
  std::vector<Detail> details;  // names of the stages in the measured program
  double other_cores = 0;       // cores used by other programs and the hypervisor
  Nanos took = 0;               // total time, including start and warm-up
};

// One of the two, for people.
struct Arm {
  std::string name;    // "A"
  std::string what;    // "origin/main", "num-workers=2", "build/old/loaderscope"
  std::string commit;  // commit of a ref; else ""
};

struct Options {
  Nanos budget = 4 * 60 * kSecond;  // budget for this comparison
  double share = 1;                 // share of the user's budget; other comparisons have the rest
  std::int64_t pairs = 0;           // 0: as many as the budget has room for
  double band = 0.02;               // a change within it is none
  double rate_needed = 0;           // samples per second that the training takes; 0: not known
  std::int64_t workers = 0;         // workers of all ranks at that rate; 0: same as in the runs
  double anchor_limit = 0.1;        // limit for CPU time per sample since the anchor
  bool only_if_it_matters = false;  // a slowdown that leaves the GPU busy does not fail
  bool must_decide = false;         // the outcome "cannot tell" fails
  bool more_memory_fails = false;
};

inline void give_share(Options& options, double share) {
  options.budget = static_cast<Nanos>(static_cast<double>(options.budget) * share);
  options.share = share;
}

// Differences between processes that run the same code, as deviations of logarithms.
struct KnownNoise {
  double rate = 0, cpu = 0;
  std::int64_t jobs = 0;  // jobs that showed it; 0: it is assumed
};
inline constexpr KnownNoise kSpreadOfModel{.rate = 1e-9, .cpu = 1e-9, .jobs = 0};
inline constexpr KnownNoise kAssumedSpread{.rate = 0.05, .cpu = 0.05, .jobs = 0};

struct Commit {
  std::string commit, author, subject;
};

// The result of a bisection.
struct FirstSlower {
  Commit commit;
  std::int64_t others = 0;  // just before it, of which it may be one as well
};

// A slowdown that somebody has accepted, in a file of the repository, reviewed like its code.
struct Accepted {
  std::string name;    // name of a stage, a wait, a quantity or a count
  double at_most = 0;  // 0.12 is 12 % more than A has
  std::string until;   // the last day, "2026-12-31"
  std::string author, reason;
};

// B against a commit of long ago: many changes that are small each add up.
struct Anchor {
  Arm arm;
  Estimate change;  // change of CPU time per sample, B / anchor - 1; 95 %
  double limit = 0;
  std::int64_t pairs = 0;

  bool is_beyond() const { return change.low > limit; }
  bool cannot_tell() const { return change.low <= limit && change.high > limit; }
};

// All that was measured. Verdicts are computed of it: judge().
struct Comparison {
  std::array<Arm, 2> arms;
  std::string command;    // the common command, for people
  std::string reproduce;  // the command that compares them once more
  std::string file;       // file of the repository that makes the batches; "": not known
  Options options;
  std::int64_t planned_pairs = 0;            // fixed before the first of them
  std::int64_t steps = 0;                    // steps of each run; 0: the flags decide
  std::int64_t workers = 0;                  // workers of A, of all ranks
  std::optional<std::int64_t> workers_of_b;  // set if B has another number
  double cores = 0;
  bool same_flags = true;                     // only the code differs: counts decide
  bool is_of_results = false;                 // one run of each, made apart
  std::vector<std::string> changed_settings;  // differences: "num-workers 0 -> 2"
  std::optional<KnownNoise> known;            // noise for the verdict on results
  std::vector<SideRun> runs;                  // runs in the order of time
  std::vector<Accepted> accepted;             // slowdowns that fail nothing
  std::string today;                          // "2026-11-23": what was accepted until when
  std::optional<Anchor> anchor;
  std::optional<FirstSlower> first_slower;  // result of a bisection, which ended at B
  std::string same_because;                 // reason, if B is the same by construction; else ""
  Nanos spent = 0;
  bool interrupted = false;
  std::vector<std::string> notes;
};

enum class Outcome : std::uint8_t { worse, better, same, cannot_tell };

// The change of one quantity.
struct Difference {
  const QuantityRow* row = nullptr;  // null: of a stage or a cause, `name` says which
  std::string name;                  // "samples-per-s", "decode", "wait-for-decode"
  Scale scale = Scale::ratio;
  bool more_is_worse = true;
  double a = 0, b = 0;  // means, in the quantity's unit
  Estimate change;      // B / A - 1, or B - A in shares; 95 %
  double p = 1;         // p-value, corrected for all quantities (Holm)
  Outcome verdict = Outcome::cannot_tell;
  double least_seen = 0;  // the smallest change found with a probability of 80 %
  double spread = 0;      // deviation of the tested values among the runs of one arm
};

// A count that both arms repeat exactly.
struct CountChange {
  std::string name;     // name of a row or a metric
  double a = 0, b = 0;  // per sample

  bool changed() const { return a != b; }
};

// The program's own name for a part of the blamed stage: a transform, a function.
struct NameChange {
  std::string name;
  double a = 0, b = 0;  // seconds per sample
};

// The effect on the GPU.
struct Matters {
  double rate_needed = 0;
  std::int64_t workers = 0, workers_of_b = 0;
  double margin_a = 0, margin_b = 0;  // free share of the workers' time; negative: the GPU waits

  bool gpu_waits() const { return margin_b < 0; }
};

struct ComparisonResult {
  Outcome verdict = Outcome::cannot_tell;
  std::vector<Difference> differences;  // most decisive first
  std::vector<CountChange> counts;
  std::vector<std::string> uncounted;  // counts that differ between runs of one arm
  std::int64_t pairs = 0;              // number of valid pairs
  std::int64_t disturbed = 0;          // runs that were left out
  std::optional<Estimate>
      against_itself;  // the rate of the later of two runs of one arm / the other's - 1
  std::int64_t pairs_of_itself = 0;
  std::optional<Matters> matters;
  std::vector<std::string> new_names, gone_names;  // "augment RandomErasing"
  std::vector<NameChange> name_changes;            // the largest first
  std::int64_t more_pairs = 0;  // further pairs that would decide; 0: no number is known

  const Difference* find(std::string_view name) const;
  // The stage or the wait that the verdict is of; null: none.
  const Difference* blamed() const;
  // Null where B is not known to need more.
  const Difference* more_memory() const;
};

// Sum over all ranks, whose rate is the job's.
std::int64_t count_workers(const RunRecord& record);
void take_workers(const RunRecord& record, std::int64_t arm, Comparison& comparison);  // A first

// Extracts the results that are kept of a run.
SideRun make_side_run(const RunRecord& record, std::int64_t arm, std::int64_t block);

// Compares two results that were measured separately. `known`: differences between runs of one arm;
// nothing: kAssumedSpread. Settings may differ. Throws RunError if they cannot be compared.
Comparison compare_two_runs(const RunRecord& a, const RunRecord& b,
                            const std::optional<KnownNoise>& known);

// Makes an anchor from the comparison of its commit with B. Throws RunError if CPU time was not
// measured.
Anchor judge_anchor(const Comparison& since, double limit);

// Pure: of what was measured, as far as it goes.
ComparisonResult judge(const Comparison& comparison);

// One run of an arm, in a fresh process.
struct RunLength {
  std::int64_t steps = 0;   // 0: as long as `duration`
  Nanos duration = 0;       // 0: as the flags say
  std::int64_t warmup = 0;  // steps; 0: as the flags say
  std::int64_t block = 0;   // runs of one block draw the same samples
};
struct Context {
  std::function<RunRecord(std::int64_t arm, const RunLength& length)> run;  // throws RunError
  // Runs each of two arms, measured one after the other, with both starts at the same time. Needs
  // loaders that can wait before they are made. May be empty.
  std::function<std::array<RunRecord, 2>(std::array<std::int64_t, 2> arms, const RunLength& length)>
      run_two;
  std::function<Nanos()> now;
  std::function<bool()> stopped;
  std::function<void(const Comparison&)> after_run;  // may be empty
  bool has_length = false;                           // the flags say how long a run is
  // Returns why B must be the same as A; "": it may differ. Called after the first run of A. May be
  // empty.
  std::function<std::string()> same_by_construction;
};

// A first run of each to learn how long they are, then blocks of A B B A: as many as fixed then.
// Throws UsageError where the budget is too short for the fewest, RunError where an arm fails.
void run_pairs(Comparison& comparison, const Context& context);

inline constexpr std::int64_t kMinPairs = 6;
inline constexpr std::int64_t kPairsOfBlock = 2, kRunsOfBlock = 4;

}  // namespace loaderscope::compare
