// The steps of a run, and who made them, as pictures.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "loaderscope/analysis.h"
#include "loaderscope/run_record.h"
#include "loaderscope/vocabulary.h"

namespace loaderscope {

// Draws the account of each step of a rank over the step numbers. A million steps become a few
// hundred stretches with a mean and a longest step.
std::string draw_step_times(const RunRecord& record, std::size_t rank);

// Draws the share of the steps of a rank by the number of batches that were ready when the trainer
// asked. If it is 0, the trainer waits. If it is the maximum, the loader waits.
std::string draw_ready(const RunRecord& record, std::size_t rank);

// Draws a job of several hosts or ranks: compute, own waits, and waits for slower ranks of each.
// "" for one host, or for one rank.
std::string draw_hosts(const RunRecord& record, const Analysis& analysis);
std::string draw_ranks(const RunRecord& record, const Analysis& analysis);

// Returns the rank that the others wait for; empty if no such rank exists.
std::optional<std::size_t> slow_rank(const RunRecord& record, const Analysis& analysis);

// Draws all workers, the link and the device of a rank in a typical step, and before the worst
// stalls.
std::string draw_exemplars(const RunRecord& record, std::size_t rank);
// Returns the place of the picture with the worst stall for a cause; "" if no such picture exists.
std::string place_of_stall(Cause cause);

}  // namespace loaderscope
