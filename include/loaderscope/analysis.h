// The answer: what a record says. Pure functions of facts; nothing here looks at the machine or a
// clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "loaderscope/run_record.h"

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
  Nanos launching = 0, not_asking = 0;  // parts of stall[launch]
  Nanos waiting_for_ranks = 0;          // part of the stalls of all causes
  PerWhy<Nanos> why{};
  Nanos order = 0;
  Nanos clamped = 0;
  DeviceProduction device;

  Nanos idle() const { return window - compute; }
};

// Gain of leaving causes out of the run. The account shows where the time is, but a copy that the
// trainer waits for may hide a slower decode. Leaving out the copy then gains nothing.
struct Removal {
  std::vector<Cause> causes;  // one cause, or two if neither alone gains anything
  double saves = 0;           // share of the window that the same samples would save

  bool operator==(const Removal&) const = default;
};

// Basis of the gains: a run of the fitted model without the cause, else the length of the cause on
// the critical path, else its share of the account.
enum class RemovalBasis : std::uint8_t { account, critical_path, model };
std::string_view name_of(RemovalBasis basis);

struct RemovalGains {
  RemovalBasis basis = RemovalBasis::account;
  std::vector<Removal> list;  // sorted by gain, the largest first
  double error = 0;           // relative error of `saves`

  double saves(Cause cause) const;  // gain without this cause alone; 0 if unknown
};

struct Verdict {
  // Name of a cause, or "compute". Empty if two causes cannot be separated, or without a verdict.
  std::optional<std::string> bound_by;
  std::vector<Cause> candidates;  // the leading cause first, then those that cannot be separated
                                  // from it
  bool no_gain = false;           // no candidate gains anything if left out
  bool together = false;          // only leaving out all candidates gains something
  std::optional<Cause> hidden;    // largest cause of the account, if another cause is the limit
  std::optional<std::string> severity;  // "none", "moderate" or "high"
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

// Prefetch depth that makes the batch ready for 99.9 % of the steps, in the model.
struct RequiredPrefetchDepth {
  std::string setting;                 // name of the setting: prefetch-factor or window
  double ready_now = 0;                // share of the steps, as it is set
  std::optional<std::int64_t> enough;  // smallest sufficient value; empty if no value is sufficient
  Bytes memory = 0;                    // host slots of all ranks with this depth
  std::int64_t steps = 0;              // modelled steps per rank
};

// Accuracy of earlier predictions on this machine, measured by later runs.
struct PastPredictions {
  std::int64_t count = 0;  // number of predictions, at most the latest 20
  double median = 0;       // median of |predicted / measured - 1|
  double worst = 0;

  // Returns "the last 20 predictions that were run were off by 3.0 % (median), 9.0 % at worst", or
  // "" without predictions.
  std::string sentence() const;
  // Returns the largest expected error of a prediction, or nothing if too few predictions were run.
  std::optional<double> bound() const;
};

// Accuracy of the model on the run that it was fitted to.
struct GoodnessOfFit {
  double rate_error = 0;   // predicted / measured - 1
  std::string worst_part;  // compute, or the cause with the largest difference
  double worst_share = 0;  // (predicted - measured) / window

  // Returns false if the model misses its own run by more than 10 %. Such a model predicts nothing.
  bool can_predict() const;
  std::string sentence() const;
};
// Role that can apply the fix.
enum class FixedBy : std::uint8_t {
  reader,         // person who writes and starts the training
  administrator,  // administrator of the machine: other programs, quotas, hardware
};

// Kinds of changes, in the order in which they are advised.
enum class ChangeKind : std::uint8_t {
  setting,
  rewriting,  // change of the program, or of the format of its data
  hardware,   // hardware, and all else that only an administrator can change
};

// Memory of the workers that a fix asks for, on one host.
struct WorkerMemory {
  std::int64_t workers = 0;  // workers of all ranks, with the fix
  double needed = 0;         // bytes of all these workers, with their finished batches
  double more = 0;           // part of `needed` that is not in use yet
  double free = 0;           // bytes that are free for it; 0 if unknown
  bool is_shared = false;    // /dev/shm is the tighter limit: all bytes are of it
  bool is_bound = false;     // no worker was measured, and `needed` is the most they can take
  bool is_limit = false;     // further workers would not fit

  bool fits() const { return free <= 0 || more <= free; }
  // "16 workers need about 14 GB, 10 GB more than now (12 GB are free)"
  std::string sentence() const;
};

// A root cause by name, with the gain of its fix.
struct Finding {
  std::string_view id;   // name of a row of the table of findings
  std::string evidence;  // sentence with the numbers of the finding
  Changes changes;       // fix, as settings or as the speed of a stage
  Changes to_run;        // part of `changes` that a run can try, mostly all of it
  std::string pytorch;   // code for a PyTorch program
  // A PyTorch program has no such setting: `pytorch` describes other code in words.
  bool is_rewrite = false;
  // Samples per second, measured and multiplied by the gain in the model. 0 without a prediction.
  double rate_before = 0, rate_after = 0;
  double busy_before = 0, busy_after = 0;  // busy before and after the fix; 0 without a compute
  double regained_s = 0;                   // part of the window that the fix saves, in s
  double waited = 0;                       // share of the window that the GPU waits because of the
                                           // finding
  FixedBy fixed_by = FixedBy::reader;
  double may_be_off = 0;    // largest error of the predicted rate in both directions; 0 if unknown
  bool wrong_data = false;  // data is wrong, which is worse than any wait; nothing is predicted
  // Marks a limit that does not slow the run. The rate is the most that the loader can deliver.
  bool is_ceiling = false;
  // Marks the fix if no finding is worth doing. The gain is small.
  bool is_chief = false;
  double hoped_gain = 0;   // gain in the model, if it is too uncertain to print
  std::string_view cause;  // name of the finding that causes this one; "" if it is a cause
                           // itself
  std::optional<WorkerMemory> memory;  // memory of the workers that the fix asks for, if it is much
  std::optional<Cause> removes;        // cause that loses most seconds by the fix, in the model

  bool has_figures() const { return rate_after > 0; }
  // Returns true if the fix is a setting, and not only a faster stage in the model.
  bool has_setting() const;
  ChangeKind kind() const;
  // Relative gain of the rate: 0.5 means 50 % more. 0 without a prediction.
  double gain() const;
  // Returns true if a setting gains 5 % of the rate, or another change 10 %. Without a prediction,
  // the whole wait counts as the gain.
  bool is_worth_doing() const;
};

// Least amount of one resource that keeps the GPU busy enough in the model. All else is unchanged.
struct TargetOption {
  std::string what;       // num-workers, cores, storage-latency or STAGE.speed
  Changes changes;        // empty if no value that was tried is sufficient
  double busy_after = 0;  // busy with `changes`
};

struct TargetOptions {
  double busy = 0;                 // target share of the window
  std::vector<TargetOption> ways;  // each option with changes is sufficient alone
};

// Cost of the idle time.
struct IdleCost {
  double gpu_hours_per_day = 0;
  std::optional<double> price_per_day;
};

// The one step of a window that is long because of the trainer: its compute and its launch.
struct LongStep {
  std::int64_t step = 0;  // step of its rank, including warm-up
  Nanos time = 0;         // time of the trainer
  double share = 0;       // share of the rank's window
  Nanos beyond = 0;       // time of the whole step above the median step
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
  std::string name;  // "base", "decode knocked out"; for differential runs "device only", "cold",
                     // ...
  Knockouts knockouts;
  Changes changes;
  std::string missing;                       // reason why the case was not run; "" if it was
  std::vector<ProofRun> runs;                // one per round
  std::optional<ProofPrediction> predicted;  // empty if no model knows the case, such as a cold
                                             // cache

  bool operator==(const ProofCase&) const = default;
};

struct Proof {
  Prove asked = Prove::blamed;
  std::string reason;         // reason why nothing was run; "" if something was
  bool exact = false;         // virtual time: a second run gives the same result
  bool has_busy = false;      // there is a compute to be busy with
  bool interrupted = false;   // earlier measurements count
  bool gpu_is_limit = false;  // leaving out the whole loader should then gain nothing
  bool alternates = false;    // the base and the first case alternate within one run
  ProofCase base;             // base case of `blamed` and `fix`
  std::vector<ProofCase> cases;

  bool operator==(const Proof&) const = default;
};

// The comparison of a run with an earlier one (run --against).
struct AgainstRun {
  std::string earlier;     // "last", or the file of the earlier result
  std::string verdict;     // "better", "worse", "same", "cannot_tell" or "not_comparable"
  std::string sentence;    // first line of the answer
  double rate_before = 0;  // samples per second of the earlier run; 0 if unknown
  Estimate change;         // change of the rate: this run / the earlier one - 1
  std::vector<std::string> settings;  // settings that differ: "num-workers 0 -> 2"
  std::vector<std::string> warnings;  // other differences, which weaken the comparison

  bool is_decided() const { return verdict == "better" || verdict == "worse"; }
};

struct Analysis {
  // Account of the job: the mean over ranks in integer ns. The causes of the last rank take the
  // remainders, so that the account closes.
  Account account;
  std::vector<Account> rank_accounts;
  bool has_busy = false;     // there is a compute to be busy with
  Estimate busy;             // share of the window
  PerCause<Estimate> share;  // shares of the window
  Estimate samples_per_s;    // sum over ranks
  std::int64_t steps = 0;    // measured, per rank
  std::int64_t samples = 0;  // sum over ranks
  bool steady = false;
  bool has_firm_intervals = true;  // enough blocks of steps for intervals
  bool is_of_trace = false;        // missing facts cannot be measured in another run
  Histogram step_time;             // between the ends of successive computes
  Nanos first_batch_wall = 0;
  std::vector<std::pair<std::string, Nanos>>
      first_batch_by_cause;  // sum is the wall time; zeros are left out
  std::optional<double> epoch_predicted_s;
  bool is_within_epoch = false;  // no epoch ended in the window
  std::optional<LongStep> long_step;
  std::optional<IdleCost> waste;  // empty without a busy
  RemovalGains removals;
  Verdict verdict;
  std::vector<Finding> findings;     // wrong data first, then sorted by gain; see findings.h
  std::optional<GoodnessOfFit> fit;  // fit of the model that the findings use
  std::vector<std::string> fit_notes;
  PastPredictions past;                        // given by the caller
  std::optional<StallSplit> starved;           // result of the model; empty without a busy
  std::optional<RequiredPrefetchDepth> depth;  // result of the model; empty without a busy
  std::optional<TargetOptions> what_it_takes;  // result of the model; empty if busy enough
  std::vector<std::string> notes;              // facts that the run was too short to show
  std::optional<Proof> proof;                  // runs made afterwards, given by the caller
  std::optional<AgainstRun> against;           // given by the caller

  // Returns true if the run has too few steps. The answer then says only that there is no verdict,
  // and what to do next.
  bool is_too_short() const;
};

// Returns the advised change: the first finding that is worth doing. Null if no finding is, or
// without a verdict.
const Finding* advised_fix(const Analysis& analysis);

double window_share(Nanos part, const Account& account);  // share of the window; 0 if the window is
                                                          // empty
Account rank_account(const RankRecord& rank);
Account mean_account(const std::vector<Account>& ranks);
Analysis analyse(const RunRecord& record);
// Returns a note for a run shorter than four windows, because batches that were made before it can
// raise its rate. Returns "" for longer runs.
std::string short_run_note(const RunRecord& record, const Analysis& analysis);

}  // namespace loaderscope
