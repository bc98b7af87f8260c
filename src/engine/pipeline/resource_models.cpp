#include "engine/pipeline/resource_models.h"

#include <algorithm>
#include <cmath>

#include "loaderscope/run_config.h"
#include "record/family_traits.h"

namespace loaderscope {

LinkModel::LinkModel(const RunConfig& config, const Knockouts& knockouts, const StagePlan& copy) {
  const bool pageable = config.loader.memory == MemoryMode::pageable;
  const bool real_link = device_kind(config.trainer.device.value) == DeviceKind::gpu &&
                         !is_model_engine(config.engine.value);
  const bool link_copies =
      !real_link && !knockouts.has(Stage::h2d) && (config.trainer.link.given || config.has_data());
  rate = !link_copies ? 0
         : pageable   ? config.trainer.link.value.pageable
                      : config.trainer.link.value.pinned;
  const Cost* declared_copy =
      knockouts.has(Stage::h2d) ? nullptr : config.declared_cost(Stage::h2d);
  copy_keeps_trainer = pageable;
  copy_uses_cpu = pageable && (declared_copy      ? declared_copy->kind == CostKind::cpu
                               : copy.is_fitted() ? true
                                                  : rate > 0);
}

namespace {

std::vector<double> host_cores(const JobHosts& hosts, double cores) {
  std::vector<double> result(static_cast<std::size_t>(hosts.count), cores);
  for (std::size_t host = 0; host < std::min(hosts.measured.size(), result.size()); ++host)
    if (hosts.measured[host].cores > 0) result[host] = hosts.measured[host].cores;
  return result;
}

}  // namespace

CoreModel::CoreModel(const RunConfig& config, const FittedCosts* fitted, bool has_device)
    : per_host(host_cores(fitted == nullptr ? JobHosts{} : fitted->hosts, config.declared.cores)) {
  if (fitted == nullptr) return;
  other_threads = fitted->other_threads;
  making_threads = fitted->making_threads;
  if (has_device) compute_threads = fitted->compute_threads;
  decodes_remotely = fitted->hosts.decode_cores > 0;
}

namespace {

// Reads of a declared storage, of which each worker has several under way; nothing where it reads
// one sample after the other.
std::optional<FittedCosts::Requests> declared_requests(const RunConfig& given) {
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

}  // namespace

StorageModel::StorageModel(const RunConfig& config, const FittedCosts* fitted,
                           const Knockouts& knockouts, double readers)
    : latency(config.declared.storage_latency),
      bandwidth(config.declared.storage_bandwidth),
      concurrency(config.declared.storage_concurrency),
      config_(config),
      fitted_(fitted),
      is_constant_(config.data.stored_bytes.value.shape == Distribution::Shape::constant),
      constant_bytes_(std::llround(config.data.stored_bytes.value.mean)) {
  const bool declared =
      !knockouts.has(Stage::read) && (latency > 0 || bandwidth > 0 || concurrency > 0);
  if (declared) declared_requests_ = declared_requests(config);
  serves_reads = declared && !declared_requests_;
  const bool fitted_storage = fitted != nullptr && !serves_reads && fitted->storage_streams > 0;
  if (fitted_storage) streams = fitted->storage_streams;
  shared = bandwidth > 0 || concurrency > 0 || (fitted_storage && streams < readers) ||
           (requests() != nullptr && requests()->link_per_byte > 0);
}

Bytes StorageModel::stored_bytes(const Execution& execution) const {
  const auto seed = static_cast<std::uint64_t>(config_.measure.seed.value);
  if (fitted_ != nullptr && fitted_->has_samples())
    return fitted_->bytes_of_sample(execution, seed);
  if (is_constant_) return constant_bytes_;
  // A sample has one size in all epochs.
  const double u = uniform_draw(seed, -1, execution.draw, Stage::read, 99);
  return std::max<Bytes>(
      std::llround(std::min(config_.data.stored_bytes.value.quantile(u), 0x1p52)), 0);
}

}  // namespace loaderscope
