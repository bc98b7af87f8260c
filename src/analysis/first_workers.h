// Work that the first workers of another program add. No run without workers measures it.
#pragma once

#include <array>
#include <string>

#include "loaderscope/run_record.h"

namespace loaderscope {

// A batch that a first worker would send.
struct SentBatch {
  double tensors = 2;
  double bytes = 0;
  double busy = 1;  // share of the time in which the worker makes the next batch
};
SentBatch sent_batch(const RunRecord& record);

// Smallest and largest amount seen in other programs, and the usual amount.
enum class Amount { least, usual, most };

// The stages that first workers bring along, besides new pages in `collate`.
inline constexpr std::array kStagesOfFirstWorkers = {Stage::transport, Stage::transport_recv,
                                                     Stage::startup_parent};

// Returns ns per batch or per start; 0 for another stage.
double brought_by_first_workers(Stage stage, const SentBatch& batch, Amount amount = Amount::usual);
// Returns the sentence that names these amounts.
std::string first_workers_note(const SentBatch& batch);

}  // namespace loaderscope
