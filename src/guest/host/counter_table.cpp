#include "guest/host/counter_table.h"

#include <algorithm>
#include <array>

#include "loaderscope/vocabulary.h"

namespace loaderscope::guest {
namespace {

constexpr CounterRow average(std::string_view name, const char* text, std::string_view needs = {}) {
  return {.name = name, .text = text, .needs = needs};
}

constexpr CounterRow total(std::string_view name, const char* text, std::string_view needs) {
  return {.name = name, .metric = CounterMetric::total, .text = text, .needs = needs};
}

// The parts of a stage's time that functions and lines of the user's code take.
constexpr CounterRow code(std::string_view stage, std::size_t max_details = 8) {
  return {.name = stage,
          .metric = CounterMetric::none,
          .parts = CounterParts::shares,
          .max_details = max_details};
}

constexpr CounterRow per_batch(std::string_view name, const char* text) {
  return {.name = name, .metric = CounterMetric::per_batch, .text = text};
}

constexpr CounterRow per_sample(std::string_view name, const char* text,
                                std::string_view needs = {}) {
  return {.name = name, .metric = CounterMetric::per_sample, .text = text, .needs = needs};
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

    average(metric::collate_padding_share,
            "of the elements of batches whose samples differ in length"),

    average(metric::state_trainer_s, "of the trainer's thread for the loader's state, each time"),
    per_batch(metric::state_trainer_share, "of the batches: a state is made with them"),
    average(metric::state_worker_s, "to make the loader's state in a worker, each time"),
    per_batch(metric::state_worker_share, "of the batches: a state is made with them"),
    average(metric::state_bytes, "that a worker sends with a batch as its state"),

    average(metric::decode_image_pixels, "of an image that Pillow opened"),
    average(metric::decode_jpeg_share, "of those images: JPEG engines of a GPU decode them"),

    average(metric::dali_threads, "in the pool of a pipeline of DALI (num_threads)"),
    average(metric::dali_busy_threads, "of DALI's, on a CPU at once since its pipeline was built"),
    average(metric::dali_queue, "batches that it makes ahead (prefetch_queue_depth)"),
    average(metric::datasets_mapped,
            "of the rows of a data set of `datasets`: found by its indices mapping"),
    average(metric::datasets_row_bytes, "of one of its rows, as Arrow keeps it"),
    average(metric::datasets_row_faults, "page faults of a worker for one of its rows"),
    average(metric::read_chunks_per_used,
            "times the elements that are used: the chunks of HDF5 that they lie in, unpacked as a "
            "whole"),
    average(metric::gc_worker_share, "of a worker's time, in which Python collects garbage"),
    average(metric::gc_worker_full, "full collections of garbage in a worker"),
    average(metric::gc_trainer_share, "of the trainer's time, in which Python collects garbage"),
    average(metric::gc_trainer_full, "full collections of garbage in a trainer"),
    average(metric::gc_full_s, "that a full collection of garbage takes"),
    CounterRow{.name = metric::making_library_cores,
               .text = "cores that other threads of a process take while one of them makes a batch",
               .is_signed = true},
    average(metric::read_opened_again,
            "of the files that h5py, zipfile, tarfile and Parquet opened: those that the process "
            "had had open before"),
    average(metric::data_cheap_samples,
            "1: the data set gives samples one by one, each in less than 50 us"),
    average(metric::transport_tensors,
            "of a batch of a loader without workers: a worker would hand each over by itself"),
    average(metric::datasets_row_storage_bytes, "fetched from storage for one of its rows"),

    CounterRow{.name = metric::startup_pickled_bytes,
               .text = "that a worker is handed, its data set above all",
               .needs = metric::startup_unpickle_s,
               .parts = CounterParts::names,
               .max_details = 256},
    average(metric::startup_pickle_s, "of the trainer's thread to pickle that, for each worker",
            metric::startup_unpickle_s),
    CounterRow{.name = metric::startup_imports_s,
               .text = "of a worker until it comes to it: its process and imports",
               .needs = metric::startup_pickled_bytes,
               .subtract = metric::startup_pickle_s},
    average(metric::startup_unpickle_s, "of a worker to read it back",
            metric::startup_pickled_bytes),

    total(metric::video_frames_decoded,
          "in batches: counted in PyAV, reckoned from key frames in torchcodec and decord",
          metric::video_frames_decoded),
    total(metric::video_frames_used,
          "of them: made an array or a picture in PyAV, asked for in torchcodec and decord",
          metric::video_frames_decoded),
    average(metric::video_decoded_per_used, "frames", metric::video_frames_decoded),
    total(metric::video_seeks, "times that decoding began at a key frame or at the beginning",
          metric::video_frames_decoded),
    average(metric::video_key_distance, "frames, by the headers of MP4 files or by the decoder"),
    average(metric::video_key_size, "times as many bytes as another frame has"),
    average(metric::video_per_frame_share, "of the decoding time, by a line through all accesses"),
    average(metric::video_files, "files of a process"),
    average(metric::video_opened_again, "of the videos that PyAV, torchcodec and decord opened"),
    average(metric::video_in_turn, "videos, by the thread that makes the batch"),

    total(metric::gpu_decode_calls, "of decoders of images on the GPU, by the training loop",
          metric::gpu_decode_calls),
    total(metric::gpu_decode_images, "that these calls decoded", metric::gpu_decode_calls),
    average(metric::gpu_decode_call_s, "of the trainer's thread in such a call",
            metric::gpu_decode_calls),

    CounterRow{.name = metric::memory_copied_bytes,
               .text = "of the data set, that a worker has copied since it was forked",
               .needs = metric::memory_copied_bytes,
               .parts = CounterParts::shares,
               .max_details = 3},

    average(metric::opens_trainer_first,
            "files that Python opens, without its modules, in the trainer until its loader begins"),
    average(metric::opens_trainer_first_modules,
            "modules that Python opens in the trainer until its loader begins"),
    average(metric::opens_trainer_first_listings,
            "folders that Python lists in the trainer until its loader begins"),
    average(metric::requests_trainer_first,
            "requests to servers by the trainer until its loader begins", metric::requests_count),
    average(metric::requests_trainer_first_s, "that they took, the mean of the processes",
            metric::requests_count),
    average(metric::opens_worker_first,
            "files that Python opens, without its modules, in a worker until its first batch"),
    average(metric::opens_worker_first_modules,
            "modules that Python opens in a worker until its first batch"),
    average(metric::opens_worker_first_listings,
            "folders that Python lists in a worker until its first batch"),
    average(metric::requests_worker_first, "requests to servers by a worker until its first batch",
            metric::requests_count),
    average(metric::requests_worker_first_s, "that they took, the mean of the processes",
            metric::requests_count),
    per_sample(metric::opens_per_sample, "files that Python opens for a sample"),
    per_sample(metric::requests_per_sample, "requests to servers for a sample",
               metric::requests_count),
    CounterRow{.name = metric::opens_same,
               .metric = CounterMetric::common,
               .text = "names that every worker opens, lists or asks for before its first batch",
               .parts = CounterParts::common,
               .max_details = 8},
    total(metric::requests_count, "to servers, by all processes", metric::requests_count),
    total(metric::requests_bytes, "that their answers say they have", metric::requests_count),
    total(metric::requests_throttled, "answers 429 or 503: the server wants fewer",
          metric::requests_count),
    total(metric::requests_retries,
          "made again after such an answer, an error of the server (500, 502, 504) or none",
          metric::requests_count),
    total(metric::requests_failed, "without an answer", metric::requests_count),
};

}  // namespace

std::span<const CounterRow> counter_rows() { return kRows; }

const CounterRow* find_counter(std::string_view name) {
  const auto found = std::find_if(kRows.begin(), kRows.end(),
                                  [&](const CounterRow& row) { return row.name == name; });
  return found == kRows.end() ? nullptr : &*found;
}

}  // namespace loaderscope::guest
