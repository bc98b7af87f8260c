#include "analysis/fit/first_workers.h"

#include <fmt/format.h>

#include <array>

#include "analysis/wording.h"
#include "loaderscope/settings.h"

namespace loaderscope::model {
namespace {

// ms of a batch, or of a start. Seen in 20 PyTorch programs on two cores, whose batches had up to
// 10 MB: sending took 0.3 to 1.1 ms of the worker, receiving 1 to 3 ms of the trainer. A fork of a
// trainer took 5 to 30 ms of it.
struct Assumed {
  Stage stage;
  std::array<double, 3> ms;  // least, usual, most
};
constexpr Assumed kAssumed[] = {{Stage::transport, {0.3, 0.7, 1.1}},
                                {Stage::transport_recv, {1, 2, 3}},
                                {Stage::startup_parent, {5, 10, 30}}};

bool is_unknown(const FittedCosts& costs, const RunConfig& config, Stage stage) {
  return !costs.knows(stage) && config.cost_of(stage) == nullptr;
}

}  // namespace

bool has_first_workers(const RunConfig& base, const RunConfig& config, const FittedCosts& costs) {
  return base.loader.num_workers == 0 && config.loader.num_workers > 0 &&
         (is_unknown(costs, config, Stage::transport_recv) ||
          is_unknown(costs, config, Stage::transport));
}

void declare_first_workers(const FittedCosts& costs, Amount amount, RunConfig& config) {
  std::vector<Cost> declared = config.declared.cost.value;
  for (const Assumed& one : kAssumed) {
    if (!is_unknown(costs, config, one.stage)) continue;
    const double ms = one.ms.at(static_cast<std::size_t>(amount));
    declared.push_back(parse_cost(fmt::format("{}={}us:cpu", name_of(one.stage), 1000 * ms)));
  }
  config.declared.cost.set(std::move(declared));
}

std::string first_workers_note() {
  const auto words = [](const Assumed& one) {
    return fmt::format("{:g} to {:g} ms", one.ms.front(), one.ms.back());
  };
  return fmt::format(
      "handing over batches was not measured without workers: as in other programs it is taken to "
      "cost a worker {} and the trainer {} a batch, and a start {}; declare it with --set "
      "cost=transport.recv=2ms",
      words(kAssumed[0]), words(kAssumed[1]), words(kAssumed[2]));
}

}  // namespace loaderscope::model
