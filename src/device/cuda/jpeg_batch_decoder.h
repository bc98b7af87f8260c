// Decodes the JPEG images of a batch into device memory by nvJPEG: with the engines of the GPU, or
// with its CUDA kernels. An image that nvJPEG refuses is decoded on the host and copied. Stored
// bytes lie in host memory, or in device memory since before the first batch.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/cuda/host_jpegs.h"
#include "device/cuda/jpeg_chunk.h"
#include "device/cuda/nvjpeg_session.h"
#include "device/cuda/runtime.h"
#include "loaderscope/decode.h"
#include "loaderscope/errors.h"

namespace loaderscope::cuda {

// The way of one image.
struct JpegOutcome {
  enum class Way : std::uint8_t { engines, cuda, cpu };
  Way way = Way::cpu;
  // The reason for `cpu`, in one word of jpeg_refusal.h, or "".
  std::string_view reason;
  std::optional<SampleError> error;  // the host could not decode it either: it has no pixels
};

struct JpegDecoderOptions {
  std::string place = "GPU 0";  // begins every error
  nvjpeg::Backend backend = nvjpeg::Backend::hardware;
  std::size_t batch = 1;         // the largest number of images of a call
  int width = 0, height = 0;     // size of the images for which nvJPEG allocates beforehand
  std::size_t region_bytes = 0;  // the largest JpegTask::bytes()
  // Memory for nvJPEG on the device and in page-locked host memory. All that it allocates.
  std::size_t arena_bytes = 0, pinned_arena_bytes = 0;
};

// Returns arena_bytes for images of this size: 256 MiB, and the pixels of two chunks.
std::size_t suggested_arena_bytes(std::size_t batch, int width, int height);

// Returns the number of images of a call: the multiple of engines x cores that is nearest to 64, at
// most `batch`. Without engines, it is the equal part of a batch that is nearest to 64 from above.
std::size_t choose_chunk(std::size_t batch, unsigned engines, unsigned cores);

// The decoder of one rank, made and used by the thread that has chosen its device. The constructor
// allocates all memory, decodes a first image and waits for the whole device. Later calls allocate
// nothing.
class JpegBatchDecoder {
 public:
  struct Facts {
    unsigned engines = 0, cores = 0;  // cores per engine; 0 for the CUDA back end
    std::size_t chunk = 0;            // images of a call
    std::size_t arena_bytes = 0, arena_peak = 0, pinned_arena_peak = 0;
    std::int64_t shortages = 0;  // calls that failed because nvJPEG's memory was short
  };

  // `stream` takes all work, and belongs to the caller. `host` decodes what nvJPEG refuses. `stop`
  // not 0: the run must stop. Throws RunError if nvJPEG cannot be used.
  JpegBatchDecoder(Runtime& runtime, std::shared_ptr<Nvjpeg> nvjpeg, std::unique_ptr<Decoder> host,
                   const JpegDecoderOptions& options, Stream stream, const std::atomic<int>& stop);
  // Waits for the work of the device. After an error, or if the work does not end within two
  // seconds, nvJPEG's objects and their memory are given up instead.
  ~JpegBatchDecoder();
  JpegBatchDecoder(const JpegBatchDecoder&) = delete;
  JpegBatchDecoder& operator=(const JpegBatchDecoder&) = delete;

  // Asks whether the GPU decodes an image that a device back end will find in device memory.
  // `stored` is host memory. Returns "" or a reason of JpegOutcome. Before the first decode().
  std::string_view ask(std::span<const std::byte> stored, const ImageHeader& image);
  // Takes memory for the stored bytes of a kept image, for those that the host must decode. Before
  // the first decode(), which then allocates nothing.
  void reserve_stored(std::size_t bytes) { host_.reserve_stored(bytes); }

  // False: nvJPEG decodes whole images only. Images with other regions go to the host.
  bool takes_regions() const { return takes_regions_; }
  Facts facts() const;

  // Decodes at most `batch` images. `begin` and `end` are recorded around the work on the device.
  // Stored bytes stay as they are until `end`. Returns false if the run must stop. Throws RunError
  // if the device is lost. After either, the decoder may only be destroyed.
  bool decode(std::span<const JpegTask> tasks, Event begin, Event end,
              std::span<JpegOutcome> outcomes);

 private:
  // The batch of the present call.
  struct Batch {
    std::span<const JpegTask> tasks;
    std::span<JpegOutcome> outcomes;
    Event begin;
    bool has_begun = false;
  };

  void warm_up(int width, int height);
  void end_work();
  std::span<const std::byte> copy_first_image(std::span<const std::byte> stored);
  bool has_region_decode(JpegChunk& chunk);
  bool decode_all(Batch& batch);
  std::string_view find_refusal(const JpegTask& task, nvjpeg::Params params);
  std::string_view find_refusal_of_header(const JpegTask& task, nvjpeg::Params params);
  bool submit(Batch& batch, JpegChunk& chunk);
  bool submit_part(Batch& batch, JpegChunk& chunk, std::size_t first, std::size_t count,
                   int& failures_left);
  void record_begin(Batch& batch);

  const Stream stream_;
  const WaitLimit limit_;
  NvjpegSession session_;
  HostJpegs host_;
  const std::size_t chunk_size_;
  std::array<std::unique_ptr<JpegChunk>, 2> chunks_;  // take turns
  std::size_t next_chunk_ = 0;
  bool takes_regions_ = false;
  std::int64_t shortages_ = 0;
};

}  // namespace loaderscope::cuda
