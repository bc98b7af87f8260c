// What is known of data sets that an experiment compares, beside the runs.
#pragma once

#include <atomic>

#include "loaderscope/experiment.h"

namespace loaderscope {

// The axis of the data; null where no data varies, or only the data of somebody else's loader.
const Axis* data_axis(const Experiment& experiment);

// Of each value of that axis. What cannot be opened is left out: its runs say why. `stop_signal`
// ends it.
std::vector<DataFacts> facts_of_data(const Experiment& experiment,
                                     const std::atomic<int>& stop_signal);

// Where the first data set is a folder of images and shards of it won: packs some of its samples
// into a folder for files that pass, and throws them away. Nothing where that has no meaning or
// cannot be done; the notes of the experiment say why it cannot.
void measure_repacking(Experiment& experiment, const std::atomic<int>& stop_signal);

// The case with the highest rate of those that have this data, and on the axis `cache` this value.
std::optional<std::size_t> best_with(const Experiment& experiment, const SweepAnswer& answer,
                                     const std::string& data, const std::string& cache);
// The values of the axis `cache` in their order; "" where it does not vary.
std::vector<std::string> caches_of(const Experiment& experiment);

}  // namespace loaderscope
