// Facts about the data sets that an experiment compares, besides the runs.
#pragma once

#include <atomic>

#include "loaderscope/experiment.h"

namespace loaderscope {

// The axis of the data; null where no data varies, or only the data of somebody else's loader.
const Axis* data_axis(const Experiment& experiment);

// Returns facts for each value of that axis. Leaves out data that cannot be opened: its runs
// contain the reason. `stop_signal` ends the work.
std::vector<DataFacts> facts_of_data(const Experiment& experiment,
                                     const std::atomic<int>& stop_signal);

// Packs some samples of the first data set into a temporary folder, if it is a folder of images and
// shards of it won. Does nothing if this has no meaning or fails; the notes of the experiment
// contain the reason of a failure.
void measure_repacking(Experiment& experiment, const std::atomic<int>& stop_signal);

// The case with the highest rate of those that have this data, and on the axis `cache` this value.
std::optional<std::size_t> best_with(const Experiment& experiment, const SweepAnswer& answer,
                                     const std::string& data, const std::string& cache);
// The values of the axis `cache` in their order; "" where it does not vary.
std::vector<std::string> list_caches(const Experiment& experiment);

}  // namespace loaderscope
