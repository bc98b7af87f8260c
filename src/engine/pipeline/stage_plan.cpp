#include "engine/pipeline/stage_plan.h"

#include <algorithm>

namespace loaderscope {

StagePlan::StagePlan(const RunConfig& config, Stage stage, const FittedCosts* fitted)
    : stage_(stage),
      cost_(config.declared_cost(stage)),
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
  StageTime time = is_per_sample(stage_) ? fitted_->sample_time(stage_, execution, seed_)
                                         : fitted_->batch_time(stage_, execution, seed_);
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

}  // namespace loaderscope
