#include "cli/job_of_processes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <sstream>
#include <utility>

#include "cli/version_text.h"
#include "loaderscope/analysis.h"
#include "loaderscope/errors.h"
#include "loaderscope/settings.h"
#include "record/merge_records.h"
#include "record/shift_times.h"
#include "report/results.h"
#include "report/schemas.h"
#include "settings/engine_table.h"
#include "settings/join_settings.h"

namespace loaderscope {
namespace {

JobPlace own_place() {
  return place_in_job([](const char* name) { return std::getenv(name); });
}

std::string settings_of_job(const RunConfig& config) {
  std::string text;
  for (const Field& field : fields()) {
    const bool is_own = is_of_each_host(field) && field.name != "ranks";
    if (is_own || !field.given(config)) continue;
    text += fmt::format("{} = {}\n", field.name, fmt::join(field.texts(config), " "));
  }
  return text;
}

void check_part(const RunConfig& config, const JobPlace& place) {
  if (engine_row(config.engine.value).kind != EngineKind::native)
    throw UsageError(fmt::format("--rendezvous: engine {} is run by one process; leave it out, and "
                                 "bring records of several together with 'loaderscope merge'",
                                 config.engine.value));
  if (config.trainer.ranks % place.processes != 0)
    throw UsageError(fmt::format("--ranks {}: {} processes cannot have as many each; give a "
                                 "multiple of {}",
                                 config.trainer.ranks.value, place.processes, place.processes));
  if (!config.trainer.sync_ranks) return;
  if (device_kind(config.trainer.device.value) == DeviceKind::gpu)
    throw UsageError(
        "--rendezvous: steps of real GPUs do not meet over processes yet; give --no-sync-ranks, or "
        "--device sim");
  if (config.measure.epochs > 0)
    throw UsageError(
        "--rendezvous: with --sync-ranks a job has no --epochs; give --steps or --duration");
}

// Injections name ranks of the job.
RunConfig part_of(const RunConfig& config, std::int64_t first, std::int64_t ranks) {
  RunConfig part = config;
  part.trainer.ranks.value = ranks;
  std::erase_if(part.declared.inject.value, [&](const Injection& one) {
    return one.rank && (*one.rank < first || *one.rank >= first + ranks);
  });
  for (Injection& one : part.declared.inject.value)
    if (one.rank) one.rank = static_cast<std::int32_t>(*one.rank - first);
  return part;
}

}  // namespace

void set_ranks_of_job(RunConfig& given) {
  if (!given.trainer.ranks.given) given.trainer.ranks.set(own_place().processes);
}

JobOfProcesses::JobOfProcesses(const RunConfig& config, const MachineFacts& machine)
    : config_(config) {
  const JobPlace place = own_place();
  check_part(config, place);
  const std::int64_t ranks = config.trainer.ranks / place.processes;
  meeting_ = std::make_unique<Meeting>(
      place,
      Introduction{version_number(), machine.host.value_or("a host without a name"),
                   settings_of_job(config), ranks},
      Meeting::Patience{});
  part_ = part_of(config, meeting_->first_rank(), ranks);
}

void JobOfProcesses::prepare(EngineContext& context) {
  context.part.first_rank = meeting_->first_rank();
  context.part.ranks = meeting_->ranks();
  const bool in_step = config_.trainer.sync_ranks;
  context.part.has_ended = [this, in_step](std::int64_t steps) {
    return in_step ? meeting_->is_over(steps) : !meeting_->failure().empty();
  };
  if (in_step && device_kind(config_.trainer.device.value) == DeviceKind::simulated) {
    context.make_devices = [this](const RunConfig& part, const std::atomic<int>& stop) {
      return make_gated_devices(part, stop, *this);
    };
  }
  if (!is_first()) context.on_progress = nullptr;
}

void JobOfProcesses::bring_onto_first_clock(RunRecord& own) {
  HostRecord host;
  host.machine = own.machine;
  host.ranks = std::ssize(own.ranks);
  host.metrics = std::exchange(own.metrics, {});
  if (own.interrupted) host.ended_early = "interrupted";
  const ClockDifference before = meeting_->clock();
  host.clock_offset = before.offset;
  host.clock_error = before.error;
  if (!is_first() && meeting_->failure().empty()) {
    const ClockDifference after = meeting_->compare_clocks();
    // What it has drifted by is not known better than that.
    host.clock_error = std::max(before.error, after.error) + std::abs(after.offset - before.offset);
    host.metrics.push_back({"clock.drift_s", "s",
                            "the clock has gained on the first host's during the run",
                            seconds(after.offset - before.offset)});
  }
  for (RankRecord& rank : own.ranks) shift_times(rank, -before.offset);
  own.hosts.push_back(std::move(host));
}

std::optional<RunRecord> JobOfProcesses::gather(RunRecord own) {
  own.config = config_;
  const std::int64_t steps = own.ranks.empty() ? 0 : own.ranks.front().rows.size();
  if (config_.trainer.sync_ranks) meeting_->end_after(steps);
  bring_onto_first_clock(own);
  if (!is_first()) {
    std::ostringstream out;
    if (!own.ranks.empty()) write_json(out, result_of(own, analyse(own)));
    meeting_->gather(out.str());
    if (const std::string why = failure(); !why.empty()) throw RunError(why);
    return std::nullopt;
  }
  RecordMerge merge(join_settings);
  std::int64_t process = 0;
  merge.add(std::move(own), meeting_->name_of(process));
  for (const std::string& bytes : meeting_->gather("")) {
    const std::string name = meeting_->name_of(++process);
    if (!bytes.empty()) merge.add(parse_result(bytes, name).record, name);
  }
  RunRecord all = merge.take();
  all.config.answer = config_.answer;
  all.interrupted |= !failure().empty();
  return all;
}

}  // namespace loaderscope
