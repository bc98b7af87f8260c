#include "engine/pipeline/loader_plan.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/arithmetic.h"
#include "loaderscope/device.h"
#include "loaderscope/errors.h"
#include "loaderscope/settings.h"

namespace loaderscope {
namespace {

StagePlan planned(const RunConfig& config, Stage stage, const FittedCosts* fitted,
                  const Knockouts& knockouts) {
  return knockouts.has(stage) ? StagePlan(stage) : StagePlan(config, stage, fitted);
}

std::vector<StagePlan> active_sample_stages(const RunConfig& config, bool has_storage,
                                            const FittedCosts* fitted, const Knockouts& knockouts) {
  std::vector<StagePlan> stages;
  for (const Stage stage : kSampleStages) {
    const StagePlan plan = planned(config, stage, fitted, knockouts);
    if (plan.active() || (stage == Stage::read && has_storage)) stages.push_back(plan);
  }
  return stages;
}

std::vector<Stage> find_stages_after_take(const FittedCosts* fitted, const Knockouts& knockouts) {
  std::vector<Stage> stages;
  for (const auto& [stage, part] :
       {std::pair{Stage::gpu_decode, Stage::decode}, std::pair{Stage::gpu_augment, Stage::augment}})
    if (fitted != nullptr && fitted->knows(stage) && !knockouts.has(part)) stages.push_back(stage);
  return stages;
}

bool any_uses_cpu(const std::vector<StagePlan>& stages) {
  return std::any_of(stages.begin(), stages.end(), [](const StagePlan& s) { return s.uses_cpu(); });
}

// Returns the most threads of one rank that can want a core at once.
double most_runnable(const LoaderPlan& plan) {
  const bool makers_run =
      any_uses_cpu(plan.sample_stages) || plan.collate.uses_cpu() || plan.startup.uses_cpu();
  const bool trainer_runs = plan.receive.uses_cpu() || plan.launch.uses_cpu() ||
                            plan.link.copy_uses_cpu || plan.startup_parent.uses_cpu();
  const bool pin_runs =
      (plan.pin_thread && plan.pin.uses_cpu()) || (plan.has_receiver() && plan.receive.uses_cpu());
  double threads = 0;
  if (makers_run) threads += plan.workers * plan.cores.making_threads;
  if (plan.send.uses_cpu() && !plan.made_by_trainer) threads += plan.workers;
  if (pin_runs) threads += 1;
  if (trainer_runs) threads += 1;
  return threads + plan.cores.compute_threads;
}

// On each host, of its ranks and of others.
bool cores_are_enough(const LoaderPlan& plan) {
  if (plan.config.declared.core_scaling.value < 1) return false;
  std::vector<double> ranks(plan.cores.per_host.size());
  for (const std::size_t host : plan.host_of_rank) ++ranks[host];
  const double rank_threads = most_runnable(plan);
  return std::equal(ranks.begin(), ranks.end(), plan.cores.per_host.begin(),
                    [&](double host_ranks, double cores) {
                      return rank_threads * host_ranks + plan.cores.other_threads <= cores;
                    });
}

JobHosts job_hosts(const FittedCosts* fitted) {
  return fitted == nullptr ? JobHosts{} : fitted->hosts;
}

SamplerOptions sampler_options(const RunConfig& config, std::int64_t ranks) {
  SamplerOptions options;
  options.samples = config.data.samples;
  options.shuffle = config.loader.shuffle;
  options.shuffle_buffer = config.loader.shuffle_buffer;
  options.ranks = ranks;
  options.seed = static_cast<std::uint64_t>(config.measure.seed.value);
  return options;
}

// A program may wait for each step's compute on some ranks only, as the one that logs does.
std::vector<std::int64_t> in_flight_of_ranks(const RunConfig& config, const FittedCosts* fitted) {
  const auto ranks = static_cast<std::size_t>(std::max<std::int64_t>(config.trainer.ranks, 1));
  std::vector<std::int64_t> all(ranks, config.trainer.in_flight);
  for (std::size_t rank = 0; fitted != nullptr && rank < ranks; ++rank)
    if (fitted->waits_for_compute(rank)) all[rank] = 1;
  return all;
}

}  // namespace

LoaderPlan::LoaderPlan(const RunConfig& given, const FittedCosts* fitted_costs,
                       const Knockouts& left_out, const LocalRanks& part)
    : config(given),
      fitted(fitted_costs),
      knockouts(left_out),
      ranks(static_cast<std::int32_t>(given.trainer.ranks.value)),
      workers(static_cast<std::int32_t>(std::max<std::int64_t>(given.loader.num_workers, 1))),
      first_rank(part.first_rank),
      ranks_of_job(part.ranks == 0 ? ranks : part.ranks),
      host_of_rank(job_hosts(fitted).rank_hosts(ranks)),
      made_by_trainer(given.loader.executor == Executor::inline_),
      pin_thread(given.loader.memory == MemoryMode::pin_thread),
      has_device(device_kind(given.trainer.device.value) != DeviceKind::none),
      in_order(given.loader.in_order || made_by_trainer),
      sample_tasks(given.loader.task == TaskShape::sample && !made_by_trainer),
      streamed(is_streamed(given)),
      prefetch_depth(made_by_trainer ? 0
                     : sample_tasks  ? given.loader.prefetch_depth.value
                                     : given.loader.prefetch_factor * given.loader.num_workers),
      in_flight_of_rank(in_flight_of_ranks(given, fitted)),
      in_flight(*std::max_element(in_flight_of_rank.begin(), in_flight_of_rank.end())),
      collate(planned(given, Stage::collate, fitted, knockouts)),
      send(planned(given, Stage::transport, fitted, knockouts)),
      receive(planned(given, Stage::transport_recv, fitted, knockouts)),
      pin(planned(given, Stage::pin, fitted, knockouts)),
      launch(planned(given, Stage::launch, fitted, knockouts)),
      copy(planned(given, Stage::h2d, fitted, knockouts)),
      compute(planned(given, Stage::compute, fitted, knockouts)),
      startup(planned(given, Stage::startup, fitted, knockouts)),
      startup_parent(planned(given, Stage::startup_parent, fitted, knockouts)),
      storage(given, fitted, knockouts, workers * static_cast<double>(ranks)),
      link(given, knockouts, copy),
      cores(given, fitted, has_device),
      on_device(given, knockouts),
      sampler(sampler_options(given, ranks_of_job)) {
  sample_stages = active_sample_stages(given, storage.is_declared(), fitted, knockouts);
  if (!on_device.makes()) stages_after_take = find_stages_after_take(fitted, knockouts);
  server_forks = given.loader.executor == Executor::processes &&
                 given.loader.mp_context == StartMethod::forkserver;

  delivered_sample_bytes = given.delivered_sample_bytes();
  layout.slot_bytes = delivered_bytes(given.loader.batch_size);
  cores.exclusive = cores_are_enough(*this);
  const bool makers_share_cpu =
      !cores.exclusive && (any_uses_cpu(sample_stages) || collate.uses_cpu());
  makes_at_once = !makers_share_cpu && !storage.shared && !cores.decodes_remotely &&
                  storage.requests() == nullptr;

  samples_per_epoch = sampler.samples_per_rank();
  const std::int64_t batch = given.loader.batch_size;
  batches_per_epoch =
      given.loader.drop_last ? samples_per_epoch / batch : divide_up(samples_per_epoch, batch);
  if (given.data.samples > 0 && batches_per_epoch == 0) {
    throw UsageError("--drop-last: the data set has " + std::to_string(samples_per_epoch) +
                         " samples per rank, less than one batch of " + std::to_string(batch) +
                         ", so nothing is delivered",
                     "make --batch-size smaller or leave out --drop-last");
  }
}

FoldOptions LoaderPlan::fold_options(EventObserver* observer) const {
  FoldOptions options;
  options.ranks = ranks;
  options.workers = workers;
  options.in_order = in_order;
  options.sync_ranks = config.trainer.sync_ranks;
  options.ranks_elsewhere = options.sync_ranks && ranks_of_job > ranks;
  options.seed = static_cast<std::uint64_t>(config.measure.seed.value);
  options.observer = observer;
  return options;
}

Nanos LoaderPlan::start_delay(std::int32_t rank) const {
  if (fitted == nullptr || fitted->hosts.start_skew <= 0) return 0;
  const auto seed = static_cast<std::uint64_t>(config.measure.seed.value);
  return std::llround(uniform_draw(seed, 0, rank, Stage::startup, 1) *
                      static_cast<double>(fitted->hosts.start_skew));
}

StageTime LoaderPlan::sample_time(const StagePlan& stage, const Execution& execution) const {
  StageTime time = stage.time(execution);
  if (cores.decodes_remotely && stage.stage() == Stage::decode) {
    time.remote_cpu = fitted->hosts.remote_cpu(time.cpu, delivered_sample_bytes);
    time.cpu = 0;
  }
  return time;
}

bool LoaderPlan::device_decodes(const Execution& sample) const {
  if (fitted == nullptr || !fitted->made_for_device) return on_device.decodes_sample(sample);
  const auto seed = static_cast<std::uint64_t>(config.measure.seed.value);
  return on_device.decodes() && fitted->was_left_to_device(sample, seed);
}

bool LoaderPlan::device_holds(const Execution& sample) const {
  if (on_device.held_form() == ResidentForm::stored) return device_decodes(sample);
  return on_device.holds_sample(sample);
}

BatchTasks LoaderPlan::device_tasks(Execution batch, const DeviceShare& work) const {
  batch.bytes = work.copied;
  return on_device.tasks(work, copy_time(batch));
}

Nanos LoaderPlan::copy_time(const Execution& execution) const {
  if (!has_device) return 0;
  Nanos ns = copy.draw(execution);
  if (config.declared_cost(Stage::h2d) == nullptr && !copy.is_fitted() && link.rate > 0) {
    ns += transfer_time(execution.bytes, link.rate);
  }
  return ns;
}

StageTime LoaderPlan::copy_work(const Execution& execution) const {
  if (has_device && copy.is_fitted()) return copy.time(execution);
  const Nanos ns = copy_time(execution);
  return link.copy_uses_cpu ? StageTime{0, 0, ns} : StageTime{ns, 0, 0};
}

Nanos LoaderPlan::compute_time(const Execution& execution) const {
  if (compute.is_fitted()) return compute.draw(execution);
  const Distribution& declared = config.trainer.compute;
  const bool constant = declared.shape == Distribution::Shape::constant;
  const auto seed = static_cast<std::uint64_t>(config.measure.seed.value);
  const double ns =
      constant
          ? static_cast<double>(config.mean_compute_time())
          : declared.quantile(uniform_draw(seed, execution.epoch, execution.draw, Stage::compute));
  return std::llround(std::min(ns, static_cast<double>(kMaxCost))) + compute.draw(execution);
}

Nanos LoaderPlan::launches_on(const Execution& execution) const {
  if (fitted == nullptr || !fitted->has_samples() || knockouts.has(Stage::launch)) return 0;
  return fitted->overlapped_work(execution, static_cast<std::uint64_t>(config.measure.seed.value));
}

std::int64_t LoaderPlan::samples_in_batch(std::int64_t batch_of_epoch) const {
  const std::int64_t batch = config.loader.batch_size;
  if (samples_per_epoch == 0) return batch;
  return std::min(batch, samples_per_epoch - batch_of_epoch * batch);
}

// Chooses the draw and the count for `every` of each execution of a stage. All engines use the same
// rules.

Execution LoaderPlan::execution(std::int32_t rank, std::int32_t worker, const StepEvents& events,
                                std::int64_t batch_of_epoch) const {
  Execution execution;
  execution.rank = rank;
  execution.worker = worker;
  execution.epoch = events.epoch;
  execution.draw = draw_number(batch_of_epoch, rank);
  execution.count = batch_of_epoch;
  execution.samples = events.samples;
  execution.bytes = events.delivered_bytes;
  return execution;
}

Execution LoaderPlan::execution_of_step(std::int32_t rank, const StepEvents& events) const {
  Execution execution;
  execution.rank = rank;
  execution.epoch = events.epoch;
  execution.draw = draw_number(events.step, rank);
  execution.count = events.step;
  execution.bytes = events.delivered_bytes;
  return execution;
}

Execution LoaderPlan::worker_start(std::int32_t rank, std::int32_t worker,
                                   std::int64_t epoch) const {
  Execution execution;
  execution.rank = rank;
  execution.worker = worker;
  execution.epoch = epoch;
  execution.draw = draw_number(worker, rank);
  execution.count = epoch;
  return execution;
}

}  // namespace loaderscope
