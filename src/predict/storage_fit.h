// Fit of the measured storage, and changes of the storage.
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

// Fits latency and bandwidth. Requests to servers were counted. Other reads are fitted if larger
// reads waited longer.
void fit_storage(FittedCosts& costs, const RunRecord& record, std::vector<std::string>& notes);

// Takes requests back with which the model misses the run; reads keep what they waited then. `run`
// runs the base case in the model.
void check_requests(FittedCosts& costs, const RunRecord& record,
                    const std::function<RunRecord(const FittedCosts&)>& run,
                    std::vector<std::string>& notes);

// Throws UsageError, which begins with `place`, where no fit of the reads answers the change.
void change_storage(FittedCosts& costs, const EnvironmentChange& change, const std::string& place,
                    std::vector<std::string>& notes);
// Sets another storage that all hosts of a job share. Each read waits for its first byte and then
// has its share of the bandwidth. Throws RunError if the bytes per sample are unknown.
void replace_storage(FittedCosts& costs, RunConfig& config, const SharedStorage& storage);
// Bytes per second that all readers of a job share in the model; 0: each is answered as fast.
double shared_storage_rate(const FittedCosts& costs, const RunConfig& config);
// Returns the bytes of a sample that requests bring. Empty if there are no requests.
std::optional<double> bytes_in_requests(const FittedCosts& costs);
// Keeps the time of each read, and removes waits of readers for each other.
void read_alone(FittedCosts& costs, RunConfig& config);
// A prediction may take more bytes per second of the storage than the run has seen of it: its rate
// may be as much less.
void note_storage_beyond_seen(const FittedCosts& costs, Prediction& prediction);
// Scales the queueing of requests with their number. `measured` belongs to `before`, `costs` to
// `after`.
void queue_in_proportion(FittedCosts& costs, const FittedCosts& measured, const RunConfig& before,
                         const RunConfig& after);
// Requests and reads alike.
void make_reads_faster(FittedCosts& costs, double factor);

}  // namespace loaderscope::model
