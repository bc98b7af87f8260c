#include "guest/host/told_counts.h"

#include <array>

namespace loaderscope::guest {
namespace {

struct Row {
  const char* name;
  const char* unit;
  const char* text;
};

constexpr std::array kRows = {
    Row{"dali.threads", "1", "in the pool of a pipeline of DALI (num_threads)"},
    Row{"dali.busy_threads", "1", "of DALI's, on a CPU at once since its pipeline was built"},
    Row{"dali.queue", "1", "batches that it makes ahead (prefetch_queue_depth)"},
    Row{"datasets.mapped", "1",
        "of the rows of a data set of `datasets`: found by its indices mapping"},
    Row{"datasets.row_bytes", "bytes", "of one of its rows, as Arrow keeps it"},
    Row{"datasets.row_faults", "1", "page faults of a worker for one of its rows"},
    Row{"read.chunks_per_used", "1",
        "times the elements that are used: the chunks of HDF5 that they lie in, unpacked as a "
        "whole"},
    Row{"gc.worker_share", "1", "of a worker's time, in which Python collects garbage"},
    Row{"gc.worker_full", "1", "full collections of garbage in a worker"},
    Row{"gc.trainer_share", "1", "of the trainer's time, in which Python collects garbage"},
    Row{"gc.trainer_full", "1", "full collections of garbage in a trainer"},
    Row{"gc.full_s", "s", "that a full collection of garbage takes"},
    Row{"making.library_cores", "1",
        "cores that other threads of a process take while one of them makes a batch"},
    Row{"read.opened_again", "1",
        "of the files that h5py, zipfile, tarfile and Parquet opened: those that the process had "
        "had open before"},
    Row{"data.cheap_samples", "1",
        "1: the data set gives samples one by one, each in less than 50 us"},
    Row{"transport.tensors", "1",
        "of a batch of a loader without workers: a worker would hand each over by itself"},
    Row{"datasets.row_storage_bytes", "bytes", "fetched from storage for one of its rows"},
};

}  // namespace

std::vector<Metric> ToldCounts::metrics() const {
  const CountsByName all = told_.all();
  std::vector<Metric> metrics;
  for (const Row& row : kRows) {
    const auto counted = all.find(row.name);
    if (counted == all.end() || counted->second.of <= 0) continue;
    metrics.push_back({row.name, row.unit, row.text, counted->second.sum / counted->second.of});
  }
  return metrics;
}

}  // namespace loaderscope::guest
