// One chunk of a batch on its way through nvJPEG: a state of the library, with the arrays that a
// call reads until it has run on the device.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "device/cuda/nvjpeg_session.h"
#include "device/cuda/runtime.h"
#include "loaderscope/decode.h"

namespace loaderscope::cuda {

// One image for the GPU.
struct JpegTask {
  std::span<const std::byte> stored;  // host memory; page-locked for the full rate
  Region region;                      // part of the image
  std::byte* to = nullptr;            // device memory of the region's first pixel; RGB, interleaved
  std::size_t stride = 0;             // bytes from row to row; bytes between rows are undefined

  bool is_kept = false;           // `stored` is device memory, and was asked about before
  std::string_view refusal = {};  // kept: the answer; "" if the GPU decodes it
  ImageHeader image = {};         // kept: size of the whole image

  std::size_t bytes() const;  // size of the region in device memory
};

class JpegChunk {
 public:
  // The session outlives the chunk.
  JpegChunk(NvjpegSession& session, std::size_t capacity);
  ~JpegChunk();
  JpegChunk(const JpegChunk&) = delete;
  JpegChunk& operator=(const JpegChunk&) = delete;

  // Waits for the last decode(). Returns false if the limit came first. Required before clear() and
  // before each decode().
  bool wait(const WaitLimit& limit);

  void clear() { count_ = 0; }
  std::size_t size() const { return count_; }
  bool is_full() const { return count_ == tasks_.size(); }
  // Parameters of the image that add() takes next.
  nvjpeg::Params next_params() const { return params_[count_]; }
  // `task` is the caller's number of the image.
  void add(std::size_t task, const JpegTask& image);
  std::size_t task(std::size_t i) const { return tasks_[i]; }

  // Allocates nvJPEG's memory for a full chunk of images of this size.
  nvjpeg::Code allocate(int width, int height);
  // Submits `count` images from the `first` on. One result for all of them. Throws RunError if the
  // device is lost.
  nvjpeg::Code decode(std::size_t first, std::size_t count, Stream stream);

 private:
  NvjpegSession& session_;
  nvjpeg::State state_ = nullptr;
  Event done_;
  bool is_submitted_ = false;  // `done_` was recorded
  std::vector<nvjpeg::Params> params_;
  std::vector<std::size_t> tasks_, lengths_;
  std::vector<const unsigned char*> data_;
  std::vector<nvjpeg::Image> destinations_;
  std::size_t count_ = 0;
};

}  // namespace loaderscope::cuda
