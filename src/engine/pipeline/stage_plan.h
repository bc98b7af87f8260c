// A stage of the pipeline, as the engines carry it out.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/pipeline/fitted_costs.h"
#include "loaderscope/run_config.h"

namespace loaderscope {

// One stage of the pipeline with its cost, declared or fitted to a record, and its injections. What
// is declared wins over what was fitted.
class StagePlan {
 public:
  StagePlan() = default;
  explicit StagePlan(Stage stage) : stage_(stage) {}  // a stage without cost
  StagePlan(const RunConfig& config, Stage stage, const FittedCosts* fitted = nullptr);

  Stage stage() const { return stage_; }
  bool active() const { return cost_ != nullptr || is_fitted() || !injections_.empty(); }
  bool is_fitted() const { return fitted_ != nullptr; }
  bool uses_cpu() const { return active() && (is_fitted() || kind_ == CostKind::cpu); }
  bool sleeps() const { return active() && !uses_cpu(); }
  StageTime time(const Execution& execution) const;
  Nanos draw(const Execution& execution) const;  // wall time, alone on its core
  Nanos injected(const Execution& execution) const;

 private:
  Stage stage_ = Stage::opaque;
  const Cost* cost_ = nullptr;
  const FittedCosts* fitted_ = nullptr;
  bool constant_ = false;  // the same for every execution: nothing to draw
  Nanos constant_ns_ = 0;
  CostKind kind_ = CostKind::cpu;
  std::vector<const Injection*> injections_;
  std::uint64_t seed_ = 0;
};

}  // namespace loaderscope
