// The parts of a saved result, one function per part. Each throws RunError through its cursor.
#pragma once

#include "loaderscope/run_record.h"
#include "report/json_tree.h"

namespace loaderscope {

// The values in force, and which of them the user gave.
void read_config(const JsonCursor& document, const std::string& place, RunConfig& config);
std::vector<std::string> read_texts(const JsonCursor& json);
MachineFacts read_machine(const JsonCursor& json);
std::vector<Metric> read_metrics(const JsonCursor& document);
std::vector<Detail> read_details(const JsonCursor& json);

// Facts of a rank but rows, reservoir and exemplars. `most`: no sum over all ranks of values up to
// it overflows.
struct RankHead {
  RankRecord record;
  std::int64_t steps = 0;  // that the result says it has measured
};
RankHead read_rank(const JsonCursor& json, std::int64_t most);

// One row of `rank`, checked against the row before it.
StepRow read_step(const JsonCursor& json, const RankRecord& rank, Nanos idle_begin,
                  std::int64_t most);
CriticalPath read_critical_path(const JsonCursor& json, std::int64_t most);
SampleRow read_sample(const JsonCursor& json);  // its rank is the first element
// Times are relative to the first ask, and of the row only `step` is filled.
Exemplar read_exemplar(const JsonCursor& json);
// Completes it: `row` is the step's row.
void place_exemplar(Exemplar& exemplar, Nanos first_ask, const StepRow& row);

}  // namespace loaderscope
