// The answer: what a record says. Pure functions of facts; nothing here looks at the machine or a
// clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "loaderscope/run_record.h"
#include "loaderscope/settings.h"

namespace loaderscope {

// A mean with its 95 % interval.
struct Estimate {
  double mean = 0;
  double low = 0;
  double high = 0;

  double half_width() const { return (high - low) / 2; }
};

// compute + all causes = window, to the ns.
struct Account {
  Nanos window = 0;
  Nanos compute = 0;
  PerCause<Nanos> stall{};
  Nanos launching = 0, not_asking = 0;  // of stall[launch]
  Nanos waiting_for_ranks = 0;          // of all causes
  PerWhy<Nanos> why{};
  Nanos order = 0;
  Nanos clamped = 0;

  Nanos idle() const { return window - compute; }
};

// What leaving something out of the run would give. The account says where the time is; a copy that
// everybody waits for may hide a decode that is slower still, and then nothing is gained without
// it.
struct Removal {
  std::vector<Cause> causes;  // one; or two of which neither gives anything without the other
  double saves = 0;           // of the window that the same samples would take less

  bool operator==(const Removal&) const = default;
};

// What it is known by: left out of the model that gives back the run; else the length that each has
// of the critical path; else, where a record has none, of the account.
enum class RemovalBasis : std::uint8_t { account, critical_path, model };
std::string_view name_of(RemovalBasis basis);

struct RemovalGains {
  RemovalBasis basis = RemovalBasis::account;
  std::vector<Removal> list;  // what saves most first
  double error = 0;           // of `saves`, as a share of it

  double saves(Cause cause) const;  // without it alone; 0 where it was not looked at
};

struct Verdict {
  // "compute", a cause, or nothing when two causes cannot be told apart or the verdict is withheld.
  std::optional<std::string> bound_by;
  std::vector<Cause> candidates;  // the leading cause first, then those not told apart from it
  bool no_gain = false;           // leaving out none of the candidates gives anything
  bool together = false;          // the candidates give something only where all are left out
  std::optional<Cause> hidden;    // the largest of the account, where something else sets the pace
  std::optional<std::string> severity;  // none, moderate, high
  std::optional<std::string> withheld_reason;
  // The reason in one clause, and what to do about it. Empty with a verdict.
  std::string withheld_briefly, withheld_next;
  std::string sentence;  // the first line of the answer
};

// The two parts of the stall, from a run of the model in which every cost takes its mean.
struct StallSplit {
  Nanos from_capacity = 0;   // remains in that run: too little capacity
  Nanos from_variation = 0;  // the other part: the costs vary

  Nanos sum() const { return from_capacity + from_variation; }
};

// How far ahead batches must be made so that 99.9 % of the steps find theirs ready, in the model.
struct RequiredPrefetchDepth {
  std::string setting;                 // that says how far: prefetch-factor or window
  double ready_now = 0;                // share of the steps, as it is set
  std::optional<std::int64_t> enough;  // the smallest value; nothing where none is
  Bytes memory = 0;                    // of the host slots of all ranks with it
  std::int64_t steps = 0;              // that were looked at per rank
};

// How well earlier predictions on this machine held, once they were run.
struct PastPredictions {
  std::int64_t count = 0;  // of the latest, at most 20
  double median = 0;       // of |predicted / measured - 1|
  double worst = 0;

  // "the last 20 predictions that were run were off by 3.0 % (median), 9.0 % at worst"; "" of none.
  std::string sentence() const;
  // By how much a prediction may be off; nothing where too few were run to say so.
  std::optional<double> bound() const;
};

// How well the model gives back the run that it was fitted to.
struct GoodnessOfFit {
  double rate_error = 0;   // predicted / measured - 1
  std::string worst_part;  // compute, or the cause with the largest difference
  double worst_share = 0;  // predicted - measured, of the window

  // One that misses the very run by more than 10 % is not quoted on another.
  bool can_predict() const;
  std::string sentence() const;
};
// Who can do what mends a finding.
enum class FixedBy : std::uint8_t {
  reader,         // whoever writes and starts the training
  administrator,  // of the machine: other programs, quotas, hardware
};

// Kinds of changes, in the order in which they are advised.
enum class ChangeKind : std::uint8_t {
  setting,
  rewriting,  // of the program, or of how its data is stored
  hardware,   // and all else that only an administrator can do
};

// A root cause by name, with what mending it gives back.
struct Finding {
  std::string_view id;   // of a row of the table of findings
  std::string evidence;  // a sentence with the figures that it rests on
  Changes changes;       // that mend it, as settings or as a stage's speed
  Changes to_run;        // what of it a run can try; most often the same
  std::string pytorch;   // what to write in a PyTorch program
  // Samples per second: measured, and times the model's gain; 0 where nothing is predicted.
  double rate_before = 0, rate_after = 0;
  double busy_before = 0, busy_after = 0;  // likewise; 0 without a compute
  double regained_s = 0;                   // of the window
  double waited = 0;                       // share of the window that is waited on its account
  FixedBy mended_by = FixedBy::reader;
  double may_be_off = 0;    // of the rate that is predicted, either way; 0: nothing says so
  bool wrong_data = false;  // worse than any waiting; nothing is predicted then
  // It holds nothing back: the rate is all that the loader can feed, not what a change gives.
  bool is_ceiling = false;
  // It gives little, and yet it causes most of the idle time, and nothing else gives more.
  bool is_chief = false;
  double hoped_gain = 0;         // in the model, where it may not be said
  std::string_view cause;        // the finding that says why; "": itself
  std::optional<Cause> removes;  // the cause of which it takes away most seconds, in the model

  bool has_figures() const { return rate_after > 0; }
  // There is something to set, and not only a speed that the model was told.
  bool has_setting() const;
  ChangeKind kind() const;
  // Of the rate: 0.5 is half as much more; 0 where nothing is predicted.
  double gain() const;
  // A setting must give 5 % more of the rate, and any other change 10 %. Without figures all that
  // is waited for counts.
  bool is_worth_doing() const;
};

// The least of one thing with which the GPU is busy enough, all else as it is; in the model.
struct TargetOption {
  std::string what;       // num-workers, cores, storage-latency or STAGE.speed
  Changes changes;        // empty: none that was tried is enough
  double busy_after = 0;  // with the changes
};

struct TargetOptions {
  double busy = 0;                 // share of the window that is wanted
  std::vector<TargetOption> ways;  // each alone does, where it has changes
};

// What the waiting costs.
struct IdleCost {
  double gpu_hours_per_day = 0;
  std::optional<double> price_per_day;
};

// The one step of a window that the trainer itself took long for: its compute and its launching.
struct LongStep {
  std::int64_t step = 0;  // of its rank, warm-up counted
  Nanos time = 0;         // that the trainer took
  double share = 0;       // of the rank's window
  Nanos beyond = 0;       // what the whole step took beyond the median one
};

// One run of a proof, measured or predicted. A proof knocks out the blamed stage, and its runs
// alternate with runs of the base case.
struct ProofRun {
  double samples_per_s = 0;
  double busy = 0;  // 0 without a compute

  bool operator==(const ProofRun&) const = default;
};

struct ProofPrediction {
  ProofRun base, after;
  // |predicted / measured - 1| of the rate: of the model on the base case, or the worst of its past
  // predictions on this machine where that is more.
  double error = 0;

  double gain() const;
  bool operator==(const ProofPrediction&) const = default;
};

// One way to run the configuration.
struct ProofCase {
  std::string name;  // "base", "decode knocked out"; of the differential "device only", "cold", ...
  Knockouts knockouts;
  Changes changes;
  std::string missing;                       // why it was not run; "" when it was
  std::vector<ProofRun> runs;                // one per round
  std::optional<ProofPrediction> predicted;  // not of what no model knows, such as a cold cache

  bool operator==(const ProofCase&) const = default;
};

struct Proof {
  Prove asked = Prove::blamed;
  std::string reason;         // why nothing was run; "" when something was
  bool exact = false;         // in virtual time: running it again gives the same
  bool has_busy = false;      // there is a compute to be busy with
  bool interrupted = false;   // what was measured until then counts
  bool gpu_is_limit = false;  // then leaving out all of the loader should give nothing
  bool by_turns = false;      // the base and the first case are turns of one run
  ProofCase base;             // of `blamed` and `fix`
  std::vector<ProofCase> cases;

  bool operator==(const Proof&) const = default;
};

struct Analysis {
  // Of the job: the mean over ranks in integer ns (remainders to the last rank's causes, so that it
  // closes too).
  Account account;
  std::vector<Account> rank_accounts;
  bool has_busy = false;     // there is a compute to be busy with
  Estimate busy;             // share of the window
  PerCause<Estimate> share;  // of the window
  Estimate samples_per_s;    // sum over ranks
  std::int64_t steps = 0;    // measured, per rank
  std::int64_t samples = 0;  // over all ranks
  bool steady = false;
  bool has_firm_intervals = true;  // there are blocks of steps enough for them
  bool is_of_trace = false;        // what it lacks cannot be measured once more
  Histogram step_time;             // between the ends of successive computes
  Nanos first_batch_wall = 0;
  std::vector<std::pair<std::string, Nanos>>
      first_batch_by_cause;  // sums to the wall; zeros left out
  std::optional<double> epoch_predicted_s;
  bool is_within_epoch = false;  // the window: none ended
  std::optional<LongStep> long_step;
  std::optional<IdleCost> waste;  // not without a busy
  RemovalGains removals;
  Verdict verdict;
  std::vector<Finding> findings;     // wrong data, then what gives back most; see findings.h
  std::optional<GoodnessOfFit> fit;  // of the model that they rest on
  std::vector<std::string> fit_notes;
  PastPredictions past;                        // handed in
  std::optional<StallSplit> starved;           // of the model; not without a busy
  std::optional<RequiredPrefetchDepth> depth;  // of the model; not without a busy
  std::optional<TargetOptions> what_it_takes;  // of the model; not if the GPU is busy enough
  std::vector<std::string> notes;              // what the run was too short to see
  std::optional<Proof> proof;                  // handed in: runs made afterwards

  // Of so few steps nothing is said but that there is no verdict, and what to do next.
  bool is_too_short() const;
};

// The one change that is advised: the first of the findings that are worth doing. Null where none
// is, and of a run without a verdict.
const Finding* fix_of(const Analysis& analysis);

double share_of(Nanos part, const Account& account);  // of the window; 0 without one
Account account_of(const RankRecord& rank);
Account mean_account(const std::vector<Account>& ranks);
Analysis analyse(const RunRecord& record);
// Of a run of less than four windows, whose rate what was made before them may carry; "" of
// another.
std::string short_run_note(const RunRecord& record, const Analysis& analysis);

}  // namespace loaderscope
