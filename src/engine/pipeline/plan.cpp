#include "engine/pipeline/plan.h"
#include "loaderscope/device.h"
#include "loaderscope/settings.h"
#include "settings/engine_table.h"

#include <algorithm>
#include <cmath>

#include "base/divide_up.h"
#include "loaderscope/errors.h"

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

bool any_uses_cpu(const std::vector<StagePlan>& stages) {
  return std::any_of(stages.begin(), stages.end(), [](const StagePlan& s) { return s.uses_cpu(); });
}

// How many threads of one rank can want a core at once.
double most_runnable(const Plan& plan) {
  const bool makers_run =
      any_uses_cpu(plan.sample_stages) || plan.collate.uses_cpu() || plan.startup.uses_cpu();
  const bool trainer_runs = plan.receive.uses_cpu() || plan.launch.uses_cpu() ||
                            plan.copy_uses_cpu || plan.startup_parent.uses_cpu();
  const bool pin_runs = plan.pin_thread && (plan.pin.uses_cpu() || plan.receive.uses_cpu());
  double threads = 0;
  if (makers_run) threads += plan.workers * plan.making_threads;
  if (plan.send.uses_cpu() && !plan.made_by_trainer) threads += plan.workers;
  if (pin_runs) threads += 1;
  if (trainer_runs) threads += 1;
  return threads + plan.compute_threads;
}

// On each host, of its ranks and of others.
bool cores_are_enough(const Plan& plan) {
  if (plan.config.declared.core_scaling.value < 1) return false;
  std::vector<double> ranks(plan.cores_of_host.size());
  for (const std::size_t host : plan.host_of_rank) ++ranks[host];
  const double of_rank = most_runnable(plan);
  return std::equal(ranks.begin(), ranks.end(), plan.cores_of_host.begin(),
                    [&](double of_host, double cores) {
                      return of_rank * of_host + plan.other_threads <= cores;
                    });
}

JobHosts hosts_of(const FittedCosts* fitted) {
  return fitted == nullptr ? JobHosts{} : fitted->hosts;
}

std::vector<double> cores_of(const JobHosts& hosts, double cores) {
  std::vector<double> of_hosts(static_cast<std::size_t>(hosts.count), cores);
  for (std::size_t host = 0; host < std::min(hosts.measured.size(), of_hosts.size()); ++host)
    if (hosts.measured[host].cores > 0) of_hosts[host] = hosts.measured[host].cores;
  return of_hosts;
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

// Reads of a declared storage, of which each worker has several under way; nothing where it reads
// one sample after the other.
std::optional<FittedCosts::Requests> requests_of(const RunConfig& given) {
  const DeclaredConfig& declared = given.declared;
  if (!given.data.queue_depth.given || declared.storage_concurrency > 0) return std::nullopt;
  FittedCosts::Requests requests;
  requests.latency = static_cast<double>(declared.storage_latency.value);
  if (declared.storage_bandwidth > 0) requests.link_per_byte = 1e9 / declared.storage_bandwidth;
  requests.bytes = std::llround(given.data.stored_bytes.value.mean);
  requests.depth = given.data.queue_depth;
  requests.held = 2 * requests.depth;
  return requests;
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

StagePlan::StagePlan(const RunConfig& config, Stage stage, const FittedCosts* fitted)
    : stage_(stage),
      cost_(config.cost_of(stage)),
      seed_(static_cast<std::uint64_t>(config.measure.seed.value)) {
  for (const Injection& injection : config.declared.inject.value) {
    if (injection.stage == stage) injections_.push_back(&injection);
  }
  if (cost_ == nullptr && fitted != nullptr && fitted->knows(stage)) fitted_ = fitted;
  kind_ = cost_ ? cost_->kind : default_cost_kind(stage);
  if (cost_ && !cost_->is_rate && cost_->amount.shape == Distribution::Shape::constant) {
    constant_ = true;
    constant_ns_ = cost_->draw(0.5, 0);
  }
}

StageTime StagePlan::time(const Execution& execution) const {
  if (!is_fitted()) {
    const Nanos ns = draw(execution);
    return kind_ == CostKind::cpu ? StageTime{0, 0, ns} : StageTime{ns, 0, 0};
  }
  StageTime time = is_per_sample(stage_) ? fitted_->of_sample(stage_, execution, seed_)
                                         : fitted_->of_other(stage_, execution, seed_);
  if (!injections_.empty()) {
    Nanos& part = kind_ == CostKind::cpu ? time.cpu : time.waits;
    part = std::min(part + injected(execution), kMaxCost);
  }
  return time;
}

Nanos StagePlan::draw(const Execution& execution) const {
  Nanos ns = 0;
  if (is_fitted()) {
    return time(execution).wall();
  } else if (constant_) {
    ns = constant_ns_;
  } else if (cost_ && cost_->amount.shape == Distribution::Shape::constant) {
    ns = cost_->draw(0.5, execution.bytes);
  } else if (cost_) {
    ns = cost_->draw(uniform_draw(seed_, execution.epoch, execution.draw, stage_), execution.bytes);
  }
  return injections_.empty() ? ns : std::min(ns + injected(execution), kMaxCost);
}

Nanos StagePlan::injected(const Execution& execution) const {
  Nanos ns = 0;
  std::uint32_t salt = 0;
  for (const Injection* injection : injections_) {
    ++salt;
    if (injection->rank && *injection->rank != execution.rank) continue;
    if (injection->worker && *injection->worker != execution.worker) continue;
    if ((execution.count + 1) % injection->every != 0) continue;
    if (injection->probability < 1 && uniform_draw(seed_, execution.epoch, execution.draw, stage_,
                                                   salt) >= injection->probability) {
      continue;
    }
    ns = std::min(ns + injection->extra, kMaxCost);
  }
  return ns;
}

Plan::Plan(const RunConfig& given, const FittedCosts* fitted_costs, const Knockouts& left_out,
           const LocalRanks& part)
    : config(given),
      fitted(fitted_costs),
      knockouts(left_out),
      ranks(static_cast<std::int32_t>(given.trainer.ranks.value)),
      workers(static_cast<std::int32_t>(std::max<std::int64_t>(given.loader.num_workers, 1))),
      first_rank(part.first_rank),
      ranks_of_job(part.ranks == 0 ? ranks : part.ranks),
      host_of_rank(hosts_of(fitted).of_ranks(ranks)),
      cores_of_host(cores_of(hosts_of(fitted), given.declared.cores)),
      made_by_trainer(given.loader.executor == Executor::inline_),
      pin_thread(given.loader.memory == MemoryMode::pin_thread),
      has_device(device_kind(given.trainer.device.value) != DeviceKind::none),
      in_order(given.loader.in_order || made_by_trainer),
      sample_tasks(given.loader.task == TaskShape::sample && !made_by_trainer),
      streamed(is_streamed(given)),
      window(made_by_trainer ? 0
             : sample_tasks  ? given.loader.window.value
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
      sampler(sampler_options(given, ranks_of_job)) {
  has_storage = !knockouts.has(Stage::read) &&
                (given.declared.storage_latency > 0 || given.declared.storage_bandwidth > 0 ||
                 given.declared.storage_concurrency > 0);
  storage_latency = given.declared.storage_latency;
  sample_stages = active_sample_stages(given, has_storage, fitted, knockouts);
  if (has_storage) declared_requests = requests_of(given);
  has_storage = has_storage && !declared_requests;
  const bool fitted_storage = fitted != nullptr && !has_storage && fitted->storage_streams > 0;
  storage_streams = fitted_storage ? fitted->storage_streams : 1;
  storage_shared = given.declared.storage_bandwidth > 0 || given.declared.storage_concurrency > 0 ||
                   (fitted_storage && storage_streams < workers * static_cast<double>(ranks)) ||
                   (requests() != nullptr && requests()->link_per_byte > 0);
  decodes_elsewhere = fitted != nullptr && fitted->hosts.decode_cores > 0;
  server_forks = given.loader.executor == Executor::processes &&
                 given.loader.mp_context == StartMethod::forkserver;

  delivered_sample_bytes = given.delivered_sample_bytes();
  stored_constant = given.data.stored_bytes.value.shape == Distribution::Shape::constant;
  stored_constant_bytes = std::llround(given.data.stored_bytes.value.mean);
  const bool pageable = given.loader.memory == MemoryMode::pageable;
  const bool real_link = device_kind(given.trainer.device.value) == DeviceKind::gpu &&
                         !is_model_engine(given.engine.value);
  const bool link_copies =
      !real_link && !knockouts.has(Stage::h2d) && (given.trainer.link.given || given.has_data());
  link_rate = !link_copies ? 0
              : pageable   ? given.trainer.link.value.pageable
                           : given.trainer.link.value.pinned;
  const Cost* declared_copy = knockouts.has(Stage::h2d) ? nullptr : given.cost_of(Stage::h2d);
  copy_keeps_trainer = pageable;
  copy_uses_cpu = pageable && (declared_copy      ? declared_copy->kind == CostKind::cpu
                               : copy.is_fitted() ? true
                                                  : link_rate > 0);

  other_threads = fitted != nullptr ? fitted->other_threads : 0;
  making_threads = fitted != nullptr ? fitted->making_threads : 1;
  compute_threads = fitted != nullptr && has_device ? fitted->compute_threads : 0;
  cpu_exclusive = cores_are_enough(*this);
  const bool makers_share_cpu =
      !cpu_exclusive && (any_uses_cpu(sample_stages) || collate.uses_cpu());
  makes_at_once =
      !makers_share_cpu && !storage_shared && !decodes_elsewhere && requests() == nullptr;

  samples_per_epoch = sampler.samples_per_rank();
  const std::int64_t batch = given.loader.batch_size;
  batches_per_epoch =
      given.loader.drop_last ? samples_per_epoch / batch : divide_up(samples_per_epoch, batch);
  if (given.data.samples > 0 && batches_per_epoch == 0) {
    throw UsageError(
        "--drop-last: the data set has " + std::to_string(samples_per_epoch) +
        " samples per rank, less than one batch of " + std::to_string(batch) +
        ", so nothing is delivered; make --batch-size smaller or leave out --drop-last");
  }
}

FoldOptions Plan::fold_options(EventObserver* observer) const {
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

Nanos Plan::comes_later(std::int32_t rank) const {
  if (fitted == nullptr || fitted->hosts.apart <= 0) return 0;
  const auto seed = static_cast<std::uint64_t>(config.measure.seed.value);
  return std::llround(uniform_draw(seed, 0, rank, Stage::startup, 1) *
                      static_cast<double>(fitted->hosts.apart));
}

StageTime Plan::sample_time(const StagePlan& stage, const Execution& execution) const {
  StageTime time = stage.time(execution);
  if (decodes_elsewhere && stage.stage() == Stage::decode) {
    time.elsewhere = fitted->hosts.elsewhere(time.cpu, delivered_sample_bytes);
    time.cpu = 0;
  }
  return time;
}

Bytes Plan::stored_bytes(const Execution& of_sample) const {
  const auto seed = static_cast<std::uint64_t>(config.measure.seed.value);
  if (fitted != nullptr && fitted->has_samples()) return fitted->bytes_of_sample(of_sample, seed);
  if (stored_constant) return stored_constant_bytes;
  // A sample has one size in all epochs.
  const double u = uniform_draw(seed, -1, of_sample.draw, Stage::read, 99);
  return std::max<Bytes>(std::llround(std::min(config.data.stored_bytes.value.quantile(u), 0x1p52)),
                         0);
}

Nanos Plan::copy_time(const Execution& execution) const {
  if (!has_device) return 0;
  Nanos ns = copy.draw(execution);
  if (config.cost_of(Stage::h2d) == nullptr && !copy.is_fitted() && link_rate > 0) {
    ns += transfer_time(execution.bytes, link_rate);
  }
  return ns;
}

StageTime Plan::copy_work(const Execution& execution) const {
  if (has_device && copy.is_fitted()) return copy.time(execution);
  const Nanos ns = copy_time(execution);
  return copy_uses_cpu ? StageTime{0, 0, ns} : StageTime{ns, 0, 0};
}

Nanos Plan::compute_time(const Execution& execution) const {
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

Nanos Plan::launches_on(const Execution& execution) const {
  if (fitted == nullptr || !fitted->has_samples() || knockouts.has(Stage::launch)) return 0;
  return fitted->beside_compute(execution, static_cast<std::uint64_t>(config.measure.seed.value));
}

std::int64_t Plan::samples_in_batch(std::int64_t batch_of_epoch) const {
  const std::int64_t batch = config.loader.batch_size;
  if (samples_per_epoch == 0) return batch;
  return std::min(batch, samples_per_epoch - batch_of_epoch * batch);
}

}  // namespace loaderscope
