// What was measured of the storage, and the storage changed.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/pipeline/fitted_costs.h"
#include "loaderscope/predict.h"
#include "settings/environment_changes.h"

namespace loaderscope {
struct SharedStorage;
}

namespace loaderscope::model {

// Latency and bandwidth: of requests to servers as these were counted, of other reads told apart
// where reads of more bytes waited longer.
void fit_storage(FittedCosts& costs, const RunRecord& record, std::vector<std::string>& notes);

// Takes requests back with which the model misses the run; reads keep what they waited then. `run`
// runs the base case in the model.
void check_requests(FittedCosts& costs, const RunRecord& record,
                    const std::function<RunRecord(const FittedCosts&)>& run,
                    std::vector<std::string>& notes);

// Throws UsageError, which begins with `place`, where no fit of the reads answers the change.
void change_storage(FittedCosts& costs, const EnvironmentChange& change, const std::string& place,
                    std::vector<std::string>& notes);
// Another storage, that all hosts of a job share: each read waits for its first byte, and then has
// its part of the bandwidth. Throws RunError where nobody knows how many bytes a sample has.
void replace_storage(FittedCosts& costs, RunConfig& config, const SharedStorage& storage);
// Bytes per second that all readers of a job share in the model; 0: each is answered as fast.
double shared_storage_rate(const FittedCosts& costs, const RunConfig& config);
// That requests bring of it for a sample; nothing where reads are none.
std::optional<double> bytes_in_requests(const FittedCosts& costs);
// What a read takes stays, and no reader waits for another.
void read_alone(FittedCosts& costs, RunConfig& config);
// A prediction may take more bytes per second of the storage than the run has seen of it: its rate
// may be as much less.
void note_storage_beyond_seen(const FittedCosts& costs, Prediction& prediction);
// What requests wait behind each other, by how many there are: of `after`, `costs` being its, where
// `measured` is of `before`.
void queue_in_proportion(FittedCosts& costs, const FittedCosts& measured, const RunConfig& before,
                         const RunConfig& after);
// Requests and reads alike.
void make_reads_faster(FittedCosts& costs, double factor);

}  // namespace loaderscope::model
