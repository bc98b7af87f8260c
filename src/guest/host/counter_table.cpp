#include "guest/host/counter_table.h"

#include <algorithm>
#include <array>

namespace loaderscope::guest {
namespace {

constexpr CounterRow average(std::string_view name, const char* unit, const char* text,
                             std::string_view needs = {}) {
  return {.name = name, .unit = unit, .text = text, .needs = needs};
}

constexpr CounterRow total(std::string_view name, const char* unit, const char* text,
                           std::string_view needs) {
  return {.name = name, .metric = CounterMetric::total, .unit = unit, .text = text, .needs = needs};
}

// The parts of a stage's time that functions and lines of the user's code take.
constexpr CounterRow code(std::string_view stage, std::size_t max_details = 8) {
  return {.name = stage,
          .metric = CounterMetric::none,
          .parts = CounterParts::shares,
          .max_details = max_details};
}

constexpr CounterRow per_batch(std::string_view name, const char* text) {
  return {.name = name, .metric = CounterMetric::per_batch, .unit = "1", .text = text};
}

constexpr CounterRow per_sample(std::string_view name, const char* text,
                                std::string_view needs = {}) {
  return {
      .name = name, .metric = CounterMetric::per_sample, .unit = "1", .text = text, .needs = needs};
}

// The rows are in the order of their metrics in the record.
constexpr std::array kRows = {
    code("augment"),
    code("collate"),
    code("decode"),
    code("launch"),
    code("opaque", 3),
    code("read"),
    code("read.decompress"),

    average("collate.padding_share", "1",
            "of the elements of batches whose samples differ in length"),

    average("state.trainer_s", "s", "of the trainer's thread for the loader's state, each time"),
    per_batch("state.trainer_share", "of the batches: a state is made with them"),
    average("state.worker_s", "s", "to make the loader's state in a worker, each time"),
    per_batch("state.worker_share", "of the batches: a state is made with them"),
    average("state.bytes", "bytes", "that a worker sends with a batch as its state"),

    average("dali.threads", "1", "in the pool of a pipeline of DALI (num_threads)"),
    average("dali.busy_threads", "1", "of DALI's, on a CPU at once since its pipeline was built"),
    average("dali.queue", "1", "batches that it makes ahead (prefetch_queue_depth)"),
    average("datasets.mapped", "1",
            "of the rows of a data set of `datasets`: found by its indices mapping"),
    average("datasets.row_bytes", "bytes", "of one of its rows, as Arrow keeps it"),
    average("datasets.row_faults", "1", "page faults of a worker for one of its rows"),
    average("read.chunks_per_used", "1",
            "times the elements that are used: the chunks of HDF5 that they lie in, unpacked as a "
            "whole"),
    average("gc.worker_share", "1", "of a worker's time, in which Python collects garbage"),
    average("gc.worker_full", "1", "full collections of garbage in a worker"),
    average("gc.trainer_share", "1", "of the trainer's time, in which Python collects garbage"),
    average("gc.trainer_full", "1", "full collections of garbage in a trainer"),
    average("gc.full_s", "s", "that a full collection of garbage takes"),
    CounterRow{.name = "making.library_cores",
               .unit = "1",
               .text = "cores that other threads of a process take while one of them makes a batch",
               .is_signed = true},
    average("read.opened_again", "1",
            "of the files that h5py, zipfile, tarfile and Parquet opened: those that the process "
            "had had open before"),
    average("data.cheap_samples", "1",
            "1: the data set gives samples one by one, each in less than 50 us"),
    average("transport.tensors", "1",
            "of a batch of a loader without workers: a worker would hand each over by itself"),
    average("datasets.row_storage_bytes", "bytes", "fetched from storage for one of its rows"),

    CounterRow{.name = "startup.pickled_bytes",
               .unit = "bytes",
               .text = "that a worker is handed, its data set above all",
               .needs = "startup.unpickle_s",
               .parts = CounterParts::names,
               .max_details = 256},
    average("startup.pickle_s", "s", "of the trainer's thread to pickle that, for each worker",
            "startup.unpickle_s"),
    CounterRow{.name = "startup.imports_s",
               .unit = "s",
               .text = "of a worker until it comes to it: its process and imports",
               .needs = "startup.pickled_bytes",
               .subtract = "startup.pickle_s"},
    average("startup.unpickle_s", "s", "of a worker to read it back", "startup.pickled_bytes"),

    total("video.frames_decoded", "1",
          "in batches: counted in PyAV, reckoned from key frames in torchcodec and decord",
          "video.frames_decoded"),
    total("video.frames_used", "1",
          "of them: made an array or a picture in PyAV, asked for in torchcodec and decord",
          "video.frames_decoded"),
    average("video.decoded_per_used", "1", "frames", "video.frames_decoded"),

    CounterRow{.name = "memory.copied_bytes",
               .unit = "bytes",
               .text = "of the data set, that a worker has copied since it was forked",
               .needs = "memory.copied_bytes",
               .parts = CounterParts::shares,
               .max_details = 3},

    average("opens.trainer_first", "1",
            "files that Python opens, without its modules, in the trainer until its loader begins"),
    average("opens.trainer_first_modules", "1",
            "modules that Python opens in the trainer until its loader begins"),
    average("opens.trainer_first_listings", "1",
            "folders that Python lists in the trainer until its loader begins"),
    average("requests.trainer_first", "1",
            "requests to servers by the trainer until its loader begins", "requests.count"),
    average("requests.trainer_first_s", "s", "that they took, the mean of the processes",
            "requests.count"),
    average("opens.worker_first", "1",
            "files that Python opens, without its modules, in a worker until its first batch"),
    average("opens.worker_first_modules", "1",
            "modules that Python opens in a worker until its first batch"),
    average("opens.worker_first_listings", "1",
            "folders that Python lists in a worker until its first batch"),
    average("requests.worker_first", "1", "requests to servers by a worker until its first batch",
            "requests.count"),
    average("requests.worker_first_s", "s", "that they took, the mean of the processes",
            "requests.count"),
    per_sample("opens.per_sample", "files that Python opens for a sample"),
    per_sample("requests.per_sample", "requests to servers for a sample", "requests.count"),
    CounterRow{.name = "opens.same",
               .metric = CounterMetric::common,
               .unit = "1",
               .text = "names that every worker opens, lists or asks for before its first batch",
               .parts = CounterParts::common,
               .max_details = 8},
    total("requests.count", "1", "to servers, by all processes", "requests.count"),
    total("requests.bytes", "bytes", "that their answers say they have", "requests.count"),
    total("requests.throttled", "1", "answers 429 or 503: the server wants fewer",
          "requests.count"),
    total("requests.retries", "1",
          "made again after such an answer, an error of the server (500, 502, 504) or none",
          "requests.count"),
    total("requests.failed", "1", "without an answer", "requests.count"),
};

}  // namespace

std::span<const CounterRow> counter_rows() { return kRows; }

const CounterRow* find_counter(std::string_view name) {
  const auto found = std::find_if(kRows.begin(), kRows.end(),
                                  [&](const CounterRow& row) { return row.name == name; });
  return found == kRows.end() ? nullptr : &*found;
}

}  // namespace loaderscope::guest
