// Input and output of the rows of the table of findings.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/findings/frameworks.h"
#include "analysis/library_threads.h"
#include "analysis/read_fit.h"
#include "analysis/wording.h"
#include "loaderscope/findings.h"

namespace loaderscope {

inline constexpr double kAboutAsMuch = 0.01;   // a larger change must save more
inline constexpr std::int64_t kMaxDepth = 32;  // batches made ahead that anybody is advised to have

// Cores with which a worker computes all of the time.
inline constexpr double kAlwaysComputes = 0.9;

struct FindingInput {
  const RunRecord& record;
  const Analysis& analysis;
  const RunConfig& config;
  PerStage<StageStats> stages;  // sums over all ranks
  PerStage<LibraryTime> libraries;
  ReadFit reads;

  FindingInput(const RunRecord& record, const Analysis& analysis);

  double share(Nanos part) const;  // share of the window
  double share(Cause cause) const { return share(analysis.account.stall[cause]); }
  double share(Why why) const { return share(analysis.account.why[why]); }
  double making() const;  // share of the causes that make batches
  bool sees_inside() const { return config.loader.executor != Executor::opaque; }
  bool has_gpu() const;  // includes a simulated GPU
  // Returns true if our own trainer waits for each step before it takes the next batch, which a
  // setting can change.
  bool waits_for_each_step() const;
  // Facts about the data, as far as they are known.
  bool has_arrays() const;                     // arrays are neither decoded nor augmented
  bool is_packed() const;                      // many samples lie in one file
  double metric(std::string_view name) const;  // 0 if missing

  bool waits_for_other_loaders() const;
  bool waits_for_sampler() const;
  bool waits_for_wrapper() const;
  bool waits_for_notifications() const;

  // Returns the names that the program uses for `about`, with shares if known: "numpy, torch",
  // "RandomCrop 62.0 %, Normalize 38.0 %". Returns "" if no name is known.
  std::string named(std::string_view about) const;
  bool has_lines() const;  // true if source lines for `opaque` time are known

  // Returns the share of the time on samples in which a worker is on a CPU or waits for one.
  double cpu_share() const;
  // Returns the cores that a worker needs if they are always free. More than 1 if a library
  // computes with several threads.
  double need_of_core() const;
  // Returns the cores of this host that no program uses. Empty if the CPU time is unknown.
  std::optional<double> idle_cores() const;
  double cores_per_rank() const;
  std::int64_t hosts() const { return std::max<std::int64_t>(1, std::ssize(record.hosts)); }
  std::int64_t threads() const { return config.loader.num_workers * config.trainer.ranks; }
  std::int64_t threads_of_host() const { return threads() / hosts(); }  // average
};

// Returns the cores that this program's stages used, the most used first: "decode 1.2, launch
// 0.31". Returns "" if no stage used a core.
std::string core_words(const FindingInput& facts);

// Range of a setting, above `present` and up to `most`. The search finds the smallest value with
// about as much gain as the best.
struct SettingRange {
  std::string key;
  std::int64_t present = 0, most = 0;
  Changes with = {};  // changes that accompany it
};

// Advice of a candidate for the changes of one setting.
struct SettingAdvice {
  std::string key;
  std::string pytorch;      // {} stands for the value of the first change
  bool is_rewrite = false;  // see Finding
};

// Evidence and possible changes that a row found.
struct Candidate {
  std::string evidence;
  // Changes that fix it, the smallest first. Of changes with about the same gain, the first is
  // advised. Empty, without ranges, if no setting fixes it and the gain is unknown.
  std::vector<Changes> options;
  std::string pytorch;                    // {} stands for the value of the first change
  Changes to_run = {};                    // tried in place of the option, if it differs
  std::vector<SettingRange> ranges = {};  // further fixes, tried after the options
  // Advice in place of the first option if no prediction is possible. A candidate with ranges and
  // no direction is dropped then.
  Changes direction = {};
  // Changes that cannot help if the evidence is true. The finding is dropped if the model predicts
  // that they help.
  Changes limits = {};
  // Share of the window that the finding explains. Empty: the row defines it.
  std::optional<double> waited = {};
  // True, without options or ranges, if the fix saves the whole wait.
  bool gives_waited = false;
  // Advice in place of `pytorch` if one of the changes is of the setting. The first match applies.
  std::vector<SettingAdvice> advice = {};
};

// Evaluates a row. Rows about a GPU return no candidate without one.
std::optional<Candidate> look_at(const FindingRow& row, const FindingInput& facts);
// Returns the finding of a candidate that `changes` fix, without figures.
Finding build_finding(const FindingInput& facts, const FindingRow& row, const Candidate& candidate,
                      const Changes& changes);
// The gain of a finding, to compare it with others.
using FindingWeight = std::function<double(const Finding&)>;
// Puts the advised change first: a setting with at least a third of the gain of the later kinds,
// then a rewrite by the same rule, then the rest. A change for an administrator comes last if
// another one helps.
void put_fix_first(std::vector<Finding>& findings, const FindingWeight& weight);
// Removes findings that give the same advice under two names.
void drop_repeated(std::vector<Finding>& findings);

// "decode 34.8 %"
std::string share_words(const FindingInput& facts, Cause cause);
// Returns advice that fits the library that augments.
std::string cheaper_augment_words(const FindingInput& facts);
// Returns "7.5 ms each", or "7.5 ms of work each" if threads also waited for a core.
std::string mean_words(const StageStats& stats);
// Returns true if more readers get no more bytes per second, as far as known.
bool bandwidth_is_full(const FindingInput& facts);
// Returns the shards of a rank's stream; more workers would read nothing. Returns 0 if the data is
// not streamed.
std::int64_t shards_of_stream(const FindingInput& facts);
// Returns "; a worker takes 1.200 s to start by spawn". Returns "" for threads, and if no worker
// was started.
std::string start_words(const FindingInput& facts);
Change number(std::string key, std::int64_t value);
// Returns the range above the present number of workers, up to the largest number that is ever
// advised. The model finds the best number.
SettingRange more_workers(const FindingInput& facts);
// Returns the share of the time that is waited for batches that workers make, for any reason.
double waits_for_workers(const FindingInput& facts);
// Sets the memory that the fix needs, and adds it to the evidence, if that is much.
void add_memory(const FindingInput& facts, Finding& finding);

// Evaluations, one per row of the table.
std::optional<Candidate> no_workers(const FindingInput& facts);
std::optional<Candidate> too_few_workers(const FindingInput& facts);
std::optional<Candidate> too_few_shards(const FindingInput& facts);
std::optional<Candidate> whole_batch_tasks(const FindingInput& facts);
std::optional<Candidate> too_many_workers(const FindingInput& facts);
std::optional<Candidate> workers_restarted(const FindingInput& facts);
// Returns true if starting workers in every epoch takes time in addition to the empty window.
bool starts_take_time(const FindingInput& facts);
bool first_batch_is_late(const FindingInput& facts);
std::optional<Candidate> first_epoch_startup(const FindingInput& facts);
std::optional<Candidate> request_storm(const FindingInput& facts);
std::optional<Candidate> large_pickled_data_set(const FindingInput& facts);
std::optional<Candidate> state_snapshots(const FindingInput& facts);
std::optional<Candidate> garbage_collection(const FindingInput& facts);

// Names that the guest gives to parts of a stage.
inline constexpr std::string_view kDataFrames = "pandas", kOpens = "opening ",
                                  kOpensVideos = "opening videos";
std::optional<Candidate> batched_indexing(const FindingInput& facts);
std::optional<Candidate> rows_of_data_frames(const FindingInput& facts);
std::optional<Candidate> opened_per_sample(const FindingInput& facts);
std::optional<Candidate> chunk_amplification(const FindingInput& facts);
double waited_for_single_samples(const FindingInput& facts);
double waited_for_frames(const FindingInput& facts);
double waited_for_opens(const FindingInput& facts);
std::optional<Candidate> decode_bound(const FindingInput& facts);
std::optional<Candidate> frames_discarded(const FindingInput& facts);
std::optional<Candidate> decoder_per_sample(const FindingInput& facts);
double waited_for_decoders(const FindingInput& facts);
bool is_of_video(const FindingInput& facts);  // decodes frames of videos
std::optional<Candidate> videos_in_turn(const FindingInput& facts);
std::optional<Candidate> augment_bound(const FindingInput& facts);
std::optional<Candidate> padding_waste(const FindingInput& facts);
std::optional<Candidate> collate_bound(const FindingInput& facts);
std::optional<Candidate> own_code(const FindingInput& facts);
std::optional<Candidate> loader_not_seen(const FindingInput& facts);
std::optional<Candidate> slow_transport(const FindingInput& facts);
std::optional<Candidate> trainer_takes_batches(const FindingInput& facts);
std::optional<Candidate> other_loader(const FindingInput& facts);
std::optional<Candidate> slow_sampler(const FindingInput& facts);
std::optional<Candidate> slow_trainer(const FindingInput& facts);
std::optional<Candidate> gpu_is_the_limit(const FindingInput& facts);

std::optional<Candidate> storage_latency(const FindingInput& facts);
std::optional<Candidate> storage_bandwidth(const FindingInput& facts);
std::optional<Candidate> small_files(const FindingInput& facts);
std::optional<Candidate> storage_concurrency(const FindingInput& facts);
std::optional<Candidate> cpu_bound_reads(const FindingInput& facts);
std::optional<Candidate> cold_cache(const FindingInput& facts);
std::optional<Candidate> indices_mapping(const FindingInput& facts);
std::optional<Candidate> cache_too_small(const FindingInput& facts);
std::optional<Candidate> decompression(const FindingInput& facts);
std::optional<Candidate> read_amplification(const FindingInput& facts);
std::optional<Candidate> library_lock(const FindingInput& facts);

std::optional<Candidate> order_stall(const FindingInput& facts);
std::optional<Candidate> prefetch_too_shallow(const FindingInput& facts);
std::optional<Candidate> prefetch_wastes_memory(const FindingInput& facts);

std::optional<Candidate> device_prefetch_too_shallow(const FindingInput& facts);
double waited_for_gpu(const FindingInput& facts);  // share of the window for what the GPU makes
std::optional<Candidate> cpu_would_do(const FindingInput& facts);
std::optional<Candidate> silent_fallback(const FindingInput& facts);
double waited_for_host_decode(const FindingInput& facts);
std::optional<Candidate> engines_idle(const FindingInput& facts);
double waited_for_device_decode(const FindingInput& facts);
std::optional<Candidate> gpu_resident_fits(const FindingInput& facts);
double waited_for_samples_and_copies(const FindingInput& facts);
std::optional<Candidate> decode_on_gpu(const FindingInput& facts);
std::optional<Candidate> augment_on_gpu(const FindingInput& facts);
double waited_for_host_augment(const FindingInput& facts);

std::optional<Candidate> pageable_copies(const FindingInput& facts);
std::optional<Candidate> copy_not_overlapped(const FindingInput& facts);
std::optional<Candidate> link_full(const FindingInput& facts);
double hidden_by_overlap(const FindingInput& facts);  // share that overlapping copies would save
std::optional<Candidate> pinning_not_worth_it(const FindingInput& facts);
std::optional<Candidate> pin_thread_limit(const FindingInput& facts);
std::optional<Candidate> too_many_bytes_to_copy(const FindingInput& facts);

std::optional<Candidate> epoch_refill(const FindingInput& facts);
std::optional<Candidate> short_last_batches(const FindingInput& facts);
std::optional<Candidate> per_batch_overhead(const FindingInput& facts);
double waited_for_sampler(const FindingInput& facts);
double spent_per_batch(const FindingInput& facts);  // share that is waited for per-batch costs

std::optional<Candidate> straggler_host(const FindingInput& facts);
std::optional<Candidate> shared_storage(const FindingInput& facts);
std::optional<Candidate> straggler_rank(const FindingInput& facts);
std::optional<Candidate> straggler_worker(const FindingInput& facts);
double waited_for_ranks(const FindingInput& facts);
double waited_for_slow_worker(const FindingInput& facts);

std::optional<Candidate> cpu_quota(const FindingInput& facts);
std::optional<Candidate> cpu_oversubscribed(const FindingInput& facts);
std::optional<Candidate> cores_exhausted(const FindingInput& facts);
std::optional<Candidate> other_programs(const FindingInput& facts);
std::optional<Candidate> nested_thread_pools(const FindingInput& facts);
std::optional<Candidate> interpreter_lock(const FindingInput& facts);
std::optional<Candidate> far_numa_node(const FindingInput& facts);
std::optional<Candidate> ranks_not_bound(const FindingInput& facts);
std::optional<Candidate> link_below_rating(const FindingInput& facts);
std::optional<Candidate> gpu_clocks_throttled(const FindingInput& facts);

std::optional<Candidate> memory_limit_near(const FindingInput& facts);
std::optional<Candidate> memory_grows(const FindingInput& facts);
std::optional<Candidate> open_files_near_limit(const FindingInput& facts);

std::optional<Candidate> same_order_every_epoch(const FindingInput& facts);
std::optional<Candidate> ranks_see_same_data(const FindingInput& facts);
std::optional<Candidate> workers_see_same_data(const FindingInput& facts);
std::optional<Candidate> workers_share_random_numbers(const FindingInput& facts);
std::optional<Candidate> epochs_repeat_random_numbers(const FindingInput& facts);
std::optional<Candidate> workers_have_stale_state(const FindingInput& facts);

}  // namespace loaderscope
