// Fit of the measured storage, and changes of the storage.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/pipeline/fitted_costs.h"
#include "loaderscope/predict.h"
#include "record/environment_changes.h"

namespace loaderscope {
struct SharedStorage;
}

namespace loaderscope::model {

// Fits latency and bandwidth. Requests to servers were counted. Other reads are fitted if larger
// reads waited longer.
void fit_storage(FittedCosts& costs, const RunRecord& record, std::vector<std::string>& notes);

// Drops the fit of requests if the model does not reproduce the run with it. Reads then keep their
// waits. `run` runs the base case in the model.
void check_requests(FittedCosts& costs, const RunRecord& record,
                    const std::function<RunRecord(const FittedCosts&)>& run,
                    std::vector<std::string>& notes);

// Throws UsageError, which begins with `place`, if no fit of the reads covers the change.
void change_storage(FittedCosts& costs, const EnvironmentChange& change, const std::string& place,
                    std::vector<std::string>& notes);
// Sets another storage that all hosts of a job share. Each read waits for its first byte and then
// has its share of the bandwidth. Throws RunError if the bytes per sample are unknown.
void replace_storage(FittedCosts& costs, RunConfig& config, const SharedStorage& storage);
// Returns the bytes per second that all readers of a job share in the model; 0 if no reader slows
// another.
double shared_storage_rate(const FittedCosts& costs, const RunConfig& config);
// Returns the bytes of a sample that requests bring. Empty if there are no requests.
std::optional<double> bytes_in_requests(const FittedCosts& costs);
// Keeps the time of each read, and removes waits of readers for each other.
void read_alone(FittedCosts& costs, RunConfig& config);
// Notes that a prediction needs more bytes per second of the storage than the run has shown. Its
// rate may be lower by that factor.
void note_storage_beyond_seen(const FittedCosts& costs, Prediction& prediction);
// Scales the queueing of requests with their number. `measured` belongs to `before`, `costs` to
// `after`.
void queue_in_proportion(FittedCosts& costs, const FittedCosts& measured, const RunConfig& before,
                         const RunConfig& after);
// Applies to requests and to reads.
void make_reads_faster(FittedCosts& costs, double factor);

}  // namespace loaderscope::model
