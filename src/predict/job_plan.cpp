#include "predict/job_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <future>

#include "analysis/epochs.h"
#include "analysis/host_subset.h"
#include "analysis/totals.h"
#include "analysis/wording.h"
#include "base/arithmetic.h"
#include "loaderscope/analysis.h"
#include "loaderscope/errors.h"
#include "record/environment_changes.h"

namespace loaderscope {
namespace {

constexpr std::int64_t kMaxSamples = 4'000'000;  // samples of all ranks per size in the model
constexpr std::int64_t kMaxSteps = 200;
constexpr std::size_t kMaxSizes = 8;
constexpr std::int64_t kMaxRanks = 32'768;  // more take the model hours and tens of gigabytes

// Returns a count that the question sets, by the setting's name or an alias, or that of the run.
std::int64_t asked_count(const PlanRequest& question, std::string_view name,
                         std::int64_t measured) {
  for (const Change& change : question.changes) {
    if (change_setting({change}, name)) return parse_count(change.value);
  }
  return measured;
}

std::int64_t samples_of_epoch(const RunRecord& record, const PlanRequest& question) {
  return asked_count(question, "samples", record.config.data.samples);
}

// Throws UsageError if a rank would get less than one batch in an epoch.
void refuse_too_few_samples(const RunRecord& record, const PlanRequest& question) {
  const std::int64_t samples = samples_of_epoch(record, question);
  const std::int64_t batch = asked_count(question, "batch-size", record.config.loader.batch_size);
  const std::int64_t each = divide_up(samples, question.ranks);
  if (samples <= 0 || question.ranks < 2 || each >= batch) return;
  throw UsageError(
      fmt::format(
          "--ranks {}: too few samples, as each rank would get {} of the {} and a batch has {}",
          question.ranks, each, format_count(samples), format_count(batch)),
      "plan fewer ranks, or say with --set samples=N how many the job will have");
}

PlanRequest completed(const RunRecord& record, const PlanRequest& asked) {
  if (record.hosts.size() > 1)
    throw UsageError(fmt::format("--from: the result is of {} hosts", record.hosts.size()),
                     "a plan is made of one host's own, each host of the job being like it");
  require_complete_job(record, "--from");
  PlanRequest question = asked;
  const std::int64_t measured = record.config.trainer.ranks;
  if (!question.gpu_price && record.config.answer.gpu_price > 0)
    question.gpu_price = record.config.answer.gpu_price;
  if (question.ranks > kMaxRanks)
    throw UsageError(fmt::format("--ranks {}: the model runs a job of up to {} ranks",
                                 question.ranks, format_count(kMaxRanks)),
                     "plan that many, the table of sizes shows the trend");
  if (question.hosts == 0) question.hosts = divide_up(question.ranks, measured);
  if (question.hosts > question.ranks)
    throw UsageError(fmt::format("--hosts {}: more hosts than ranks", question.hosts),
                     fmt::format("a host needs one of the {}", question.ranks));
  return question;
}

// One host, then as many as make about the same step each time, and the job.
std::vector<std::int64_t> host_counts(std::int64_t hosts) {
  std::vector<std::int64_t> counts = {1};
  const double growth = std::max(2.0, std::pow(static_cast<double>(hosts), 1.0 / (kMaxSizes - 1)));
  for (double next = growth; std::llround(next) < hosts; next *= growth)
    counts.push_back(std::llround(next));
  if (hosts > 1) counts.push_back(hosts);
  return counts;
}

Changes changes_for(const PlanRequest& question, std::int64_t ranks) {
  Changes changes = question.changes;
  const auto names = [&](std::string_view key) {
    return std::any_of(changes.begin(), changes.end(),
                       [&](const Change& change) { return change.key == key; });
  };
  changes.push_back({"ranks", std::to_string(ranks)});
  if (ranks > 1 && !names("sync-ranks")) changes.push_back({"sync-ranks", "true"});
  return changes;
}

std::int64_t steps_for(const RunConfig& config, std::int64_t ranks) {
  const std::int64_t samples = std::max<std::int64_t>(config.loader.batch_size, 1) * ranks;
  return std::clamp(kMaxSamples / samples, kMinStepsOfSize, kMaxSteps);
}

// Returns the longest epoch to run whole. If the job runs whole epochs, so do its sizes, to make
// their rates comparable, unless they are too long.
std::int64_t longest_for(const RunConfig& config, const PlanRequest& question, std::int64_t ranks) {
  const std::int64_t most = kMaxSamples / std::max<std::int64_t>(config.loader.batch_size, 1);
  const std::int64_t job_samples = steps_for(config, question.ranks) * question.ranks;
  return divide_up(std::min(job_samples, most), ranks);
}

// Returns the size as the model predicts it, corrected by the model's error for the run itself. The
// busy share is at most 1.
JobSize make_size(const Prediction& prediction, std::int64_t hosts, double calibration) {
  JobSize size;
  size.ranks = prediction.config.trainer.ranks;
  size.hosts = hosts;
  size.account = prediction.account;
  const double busy = prediction.busy();
  const double factor = busy > 0 ? std::min(calibration, 1 / busy) : calibration;
  size.samples_per_s = prediction.samples_per_s * factor;
  if (busy > 0) size.account = with_busy(size.account, busy * factor);
  if (prediction.config.data.samples > 0)
    size.epoch_s = seconds(prediction.account.window) / factor *
                   static_cast<double>(steps_of_epoch(prediction.config)) /
                   static_cast<double>(prediction.config.measure.steps);
  return size;
}

// Between the ends of two steps of the run.
Nanos mean_step_time(const RunRecord& record, const Analysis& analysis) {
  return analysis.steps > 0 ? step_mean(record, analysis.account.window) : 0;
}

// `config`: settings of the job. The start of an epoch comes from the run, unless the model ran
// whole epochs.
JobEpoch make_epoch(const JobPlan& plan, RunConfig config, std::int64_t samples,
                    const SeenEpochs& seen) {
  config.data.samples.value = samples;
  const JobSize& job = plan.job();
  JobEpoch epoch;
  epoch.samples = samples;
  epoch.steps = steps_of_epoch(config);
  epoch.busy = plan.has_busy ? 1 - window_share(job.account.idle(), job.account) : 0;
  if (job.epoch_s) {
    epoch.seconds = *job.epoch_s;
    epoch.start_s = epoch.seconds * window_share(job.account.why[Why::epoch], job.account);
  } else {
    epoch.start_s = seen.start_ns() / 1e9;
    epoch.seconds = static_cast<double>(epoch.steps) *
                        static_cast<double>(config.loader.batch_size * job.ranks) /
                        job.samples_per_s +
                    epoch.start_s;
    epoch.busy *= 1 - epoch.start_s / epoch.seconds;
  }
  epoch.gpu_hours = epoch.seconds / 3600 * static_cast<double>(plan.question.ranks);
  if (!plan.has_busy || !plan.question.gpu_price) return epoch;
  epoch.price = epoch.gpu_hours * *plan.question.gpu_price;
  epoch.price_of_waiting = *epoch.price * (1 - epoch.busy);
  return epoch;
}

// Returns nothing if the run does not show the effect of more workers on its loader.
std::optional<JobSize> size_with_enough(const FittedModel& model, const JobPlan& plan,
                                        const RunRecord& record, Nanos apart, double calibration) {
  if (plan.first_full.empty()) return std::nullopt;
  const PlanRequest question = if_unlimited(plan.question, plan.shared);
  try {
    return make_size(model.predict_job(hosts_for(question, question.hosts, apart), question.storage,
                                       changes_for(question, question.ranks),
                                       steps_for(record.config, question.ranks), 0),
                     question.hosts, calibration);
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

JobNeeds find_needs(const FittedModel& model, const RunRecord& record,
                    const PlanRequest& question) {
  const LoaderAlone alone =
      model.loader_alone(question.storage, question.changes,
                         steps_for(record.config, sane_count(record.config.trainer.ranks)));
  JobNeeds needs{needs_of_sample(alone.record), alone.storage_rate};
  needs.storage_bytes = alone.request_bytes.value_or(needs.sample.stored_bytes);
  if (question.decode && needs.sample.decode_cpu_ns <= 0)
    throw RunError(
        "the run does not show what decoding takes, so --decode-hosts cannot be answered",
        "measure "
        "one that decodes where loaderscope sees it, or leave it out");
  return needs;
}

// ns that the GPU computes in a step.
double mean_step(const Prediction& prediction) {
  const RunConfig& config = prediction.config;
  if (config.trainer.compute.given) return static_cast<double>(config.mean_compute_time());
  return static_cast<double>(prediction.account.compute) /
         static_cast<double>(std::max<std::int64_t>(config.measure.steps, 1));
}

void add_notes(std::vector<std::string>& notes, const std::vector<std::string>& more) {
  for (const std::string& note : more) {
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  }
}

constexpr double kMuchFilledUp = 1.01;  // times the samples of an epoch

void note_measured(JobPlan& plan, const RunRecord& record, const Analysis& analysis) {
  std::vector<std::string>& notes = plan.notes;
  const std::int64_t measured = record.config.trainer.ranks;
  if (analysis.verdict.withheld_reason)
    notes.push_back("the run has no verdict, so this plan is uncertain: " +
                    *analysis.verdict.withheld_reason);
  if (plan.question.ranks > measured)
    notes.push_back(fmt::format(
        "extrapolated from {} to {}: the network between the GPUs, and what else of a step grows "
        "with their number, is in no step unless --step says so",
        plural(measured, "rank"), format_count(plan.question.ranks)));
  if (plan.question.ranks_of_host() > measured)
    notes.push_back(fmt::format("a host has {} ranks and had {}: its cores are shared by more",
                                plan.question.ranks_of_host(), measured));
  if (plan.question.ranks > 1 && !record.config.trainer.sync_ranks &&
      !change_setting(plan.question.changes, "sync-ranks"))
    notes.emplace_back(
        "each step of the job waits for the slowest of its ranks, as none of the run did; --set "
        "sync-ranks=false leaves that out");
}

std::string note_on_storage(const RunRecord& record, const JobNeeds& needs) {
  const char* another = "; --storage, such as 40GB/s:1ms, gives them another";
  if (needs.storage_rate > 0)
    return fmt::format("all hosts are taken to share the {} of the run's storage{}",
                       format_byte_rate(needs.storage_rate), another);
  if (record.config.declared.storage_concurrency > 0)
    return fmt::format("all hosts are taken to share the run's storage, with {} at once{}",
                       plural(record.config.declared.storage_concurrency, "read"), another);
  return "the storage is taken to answer every host as fast as it answered this one; give "
         "--storage, such as 40GB/s:1ms";
}

void note_shared(JobPlan& plan, const RunRecord& record, const JobNeeds& needs) {
  std::vector<std::string>& notes = plan.notes;
  if (!plan.question.storage && plan.question.hosts > 1)
    notes.push_back(note_on_storage(record, needs));
  if (plan.question.decode)
    notes.push_back(fmt::format(
        "each sample is taken to be decoded by all {} cores of the hosts that decode at once: the "
        "rate is the most that can come where fewer than as many samples are under way there",
        format_count(std::llround(hosts_for(plan.question, 1, 0).decode_cores))));
}

void note_epochs(JobPlan& plan, const RunRecord& record) {
  std::vector<std::string>& notes = plan.notes;
  if (plan.question.gpu_price && !plan.epoch)
    notes.emplace_back(
        "what an epoch costs is not known, as its samples are not; --set samples=N says how many");
  if (!plan.epoch) return;
  const JobEpoch& epoch = *plan.epoch;
  const std::int64_t made = divide_up(epoch.samples, plan.job().ranks) * plan.job().ranks;
  if (!record.config.loader.drop_last &&
      static_cast<double>(made) > kMuchFilledUp * static_cast<double>(epoch.samples))
    notes.push_back(fmt::format(
        "for every rank to have as many, the {} samples of an epoch are filled up to {}, which the "
        "rate counts",
        format_count(epoch.samples), format_count(made)));
  if (plan.job().epoch_s) {
    notes.push_back(fmt::format(
        "an epoch of the job has {} of each rank: in the busy share and the rate of such a size is "
        "how its epochs begin, as the model has it",
        plural(epoch.steps, "step")));
  } else if (epoch.start_s > 0) {
    notes.push_back(fmt::format(
        "each epoch is taken to begin as in the run, in {}; the busy share and the rate of a size "
        "are of what comes after",
        format_duration(std::llround(epoch.start_s * 1e9))));
  } else if (restarts_workers(record.config) || epoch.steps < kMinStepsOfSize) {
    notes.push_back(fmt::format(
        "the run saw no epoch begin, and an epoch of the job has {} of each rank: what its begin "
        "takes is left out; give the run more steps than an epoch has",
        plural(epoch.steps, "step")));
  }
}

// Appends notes to those of the model. `needs`: needs of the plan's job.
void add_plan_notes(JobPlan& plan, const RunRecord& record, const Analysis& analysis,
                    const JobNeeds& needs) {
  note_measured(plan, record, analysis);
  note_shared(plan, record, needs);
  note_epochs(plan, record);
}

}  // namespace

JobPlan plan_job(const RunRecord& record, const PlanRequest& asked,
                 const std::atomic<int>* stop_signal) {
  JobPlan plan;
  plan.question = completed(record, asked);
  const PlanRequest& question = plan.question;
  refuse_too_few_samples(record, question);
  const FittedModel model(record, stop_signal);
  const Analysis analysis = analyse(record);
  const Prediction fitted = model.fitted();
  plan.fit = goodness_of_fit(analysis, fitted);
  if (!plan.fit.can_predict())
    throw RunError("the model misses the run by more than 10 %, so nothing is planned with it: " +
                       plan.fit.sentence(),
                   "measure it again on a calmer machine, or for longer");
  plan.measured = {record.config.trainer.ranks, 1, analysis.samples_per_s.mean, analysis.account,
                   std::nullopt};
  const double calibration =
      fitted.samples_per_s > 0 ? analysis.samples_per_s.mean / fitted.samples_per_s : 1;

  plan.notes = model.notes();
  const std::int64_t host_ranks = question.ranks_of_host();
  const Nanos apart = question.ranks > 1 ? mean_step_time(record, analysis) : 0;
  const JobNeeds needs = find_needs(model, record, question);
  const std::vector<std::int64_t> counts = host_counts(question.hosts);
  std::vector<std::future<Prediction>> running(counts.size());
  for (std::size_t i = counts.size(); i-- > 0;) {  // the largest, which takes longest, first
    const std::int64_t ranks = std::min(host_ranks * counts[i], question.ranks);
    running[i] = std::async(std::launch::async, [&, hosts = counts[i], ranks] {
      return model.predict_job(hosts_for(question, hosts, apart), question.storage,
                               changes_for(question, ranks), steps_for(record.config, ranks),
                               longest_for(record.config, question, ranks));
    });
  }
  double step = 0;  // step time of the ranks of one host
  RunConfig config;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const Prediction prediction = running[i].get();
    if (i == 0) step = mean_step(prediction);
    plan.sizes.push_back(make_size(prediction, counts[i], calibration));
    plan.has_busy = prediction.has_busy();
    config = prediction.config;
    if (i + 1 == counts.size()) add_notes(plan.notes, prediction.notes);
  }
  if (plan.has_busy && step > 0) {
    plan.shared = things_shared_by(needs, question, config, step);
    plan.first_full = first_full(plan.shared);
    plan.if_unlimited = size_with_enough(model, plan, record, apart, calibration);
  }
  const std::int64_t samples = samples_of_epoch(record, question);
  plan.data_bytes = std::llround(needs.sample.stored_bytes * static_cast<double>(samples));
  if (samples > 0)
    plan.epoch = make_epoch(plan, config, samples, epochs_seen(record, analysis.account));
  add_plan_notes(plan, record, analysis, needs);
  return plan;
}

}  // namespace loaderscope
