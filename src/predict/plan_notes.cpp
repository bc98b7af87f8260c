#include "predict/plan_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/epochs.h"
#include "analysis/wording.h"
#include "base/arithmetic.h"
#include "settings/changes.h"

namespace loaderscope {
namespace {

constexpr double kMuchFilledUp = 1.01;  // times the samples of an epoch

void note_measured(JobPlan& plan, const RunRecord& record, const Analysis& analysis) {
  std::vector<std::string>& notes = plan.notes;
  const std::int64_t measured = record.config.trainer.ranks;
  if (analysis.verdict.withheld_reason)
    notes.push_back("the run allows no verdict, and this rests on it: " +
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

}  // namespace

void add_plan_notes(JobPlan& plan, const RunRecord& record, const Analysis& analysis,
                    const JobNeeds& needs) {
  note_measured(plan, record, analysis);
  note_shared(plan, record, needs);
  note_epochs(plan, record);
}

}  // namespace loaderscope
