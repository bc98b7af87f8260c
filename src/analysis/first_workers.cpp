#include "analysis/first_workers.h"

#include <fmt/format.h>

#include <array>

#include "analysis/wording.h"

namespace loaderscope {
namespace {

using Amounts = std::array<double, 3>;  // ms: least, usual, most

double at(const Amounts& amounts, Amount amount) {
  return amounts.at(static_cast<std::size_t>(amount));
}

// Seen in 25 PyTorch programs on two cores. The trainer asks a worker for the descriptor of each
// tensor. A worker that makes a batch gives it once it has Python's lock. What a worker takes to
// begin its next batch is in `transport`. A fork of a trainer took 5 to 30 ms of it.
struct Assumed {
  Stage stage;
  Amounts each, of_tensor, of_tensor_if_busy;
};
constexpr std::array<Assumed, kStagesOfFirstWorkers.size()> kAssumed = {
    {{Stage::transport, {0.2, 0.5, 1.5}, {0.03, 0.07, 0.15}, {}},
     {Stage::transport_recv, {0.1, 0.3, 0.5}, {0.18, 0.23, 0.3}, {0, 0.25, 1.0}},
     {Stage::startup_parent, {5, 10, 30}, {}, {}}}};
// A worker collates into new pages of shared memory. Of a megabyte.
constexpr Amounts kNewPages = {0.3, 0.6, 1.0};

double duration_ms(const Assumed& one, const SentBatch& batch, Amount amount) {
  return at(one.each, amount) + batch.tensors * (at(one.of_tensor, amount) +
                                                 batch.busy * at(one.of_tensor_if_busy, amount));
}

}  // namespace

SentBatch sent_batch(const RunRecord& record) {
  SentBatch batch;
  batch.tensors = value_of(record.metrics, metric::transport_tensors).value_or(batch.tensors);
  double bytes = 0, batches = 0, making = 0, window = 0;
  for (const RankRecord& rank : record.ranks) {
    for (const Stage stage : kMakingStages) making += seconds(rank.stages[stage].wall);
    window += seconds(rank.window());
    bytes += static_cast<double>(rank.delivered_bytes);
    batches += static_cast<double>(rank.steps());
  }
  if (batches > 0) batch.bytes = bytes / batches;
  if (making < 0.5 * window) batch.busy = making / (window - making);
  return batch;
}

double brought_by_first_workers(Stage stage, const SentBatch& batch, Amount amount) {
  if (stage == Stage::collate) return batch.bytes * 1e-6 * at(kNewPages, amount) * kMillisecond;
  for (const Assumed& one : kAssumed)
    if (one.stage == stage) return duration_ms(one, batch, amount) * kMillisecond;
  return 0;
}

std::string first_workers_note(const SentBatch& batch) {
  const auto words = [&](const Assumed& one) {
    const auto ms = [&](Amount amount) {
      const double pages = one.stage == Stage::transport
                               ? brought_by_first_workers(Stage::collate, batch, amount)
                               : 0;
      return duration_ms(one, batch, amount) + pages / kMillisecond;
    };
    return fmt::format("{:.2g} to {:.2g} ms", ms(Amount::least), ms(Amount::most));
  };
  return fmt::format(
      "handing over batches was not measured without workers: as in other programs it is taken to "
      "cost a worker {} and the trainer {} a batch, by its tensors ({:.0f}) and bytes ({}), and a "
      "start {}; declare it with --set cost=transport.recv=2ms",
      words(kAssumed[0]), words(kAssumed[1]), batch.tensors, format_size(batch.bytes),
      words(kAssumed[2]));
}

}  // namespace loaderscope
