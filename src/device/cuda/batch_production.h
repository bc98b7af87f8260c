// Batches that a GPU makes of mixed slots: copies, JPEG decoding, and the kernel that augments.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/fifo.h"
#include "device/cuda/augment_job.h"
#include "device/cuda/device_objects.h"
#include "device/cuda/jpeg_batch_decoder.h"
#include "loaderscope/augment.h"
#include "loaderscope/device.h"

namespace loaderscope::cuda {

inline constexpr std::size_t kRgbBytes = 3;

class BatchProduction {
 public:
  // Takes all memory and runs everything once. It waits for the whole device, so no gate may be
  // waiting. `nvjpeg` is needed if the plan decodes. `place` begins every error: "GPU 0". Throws
  // RunError, also if memory is short.
  BatchProduction(DeviceGroup& group, const std::string& place, const MakePlan& plan,
                  std::shared_ptr<Nvjpeg> nvjpeg, const std::atomic<int>& stop);

  // Takes memory for the data set of the plan, and copies it, before the first batch. Entries that
  // are held refer to it. Asks nvJPEG about the stored images. Throws RunError, also if memory is
  // short.
  void keep(const HeldData& data);

  // Submits the work on the next batch, for the device thread. False: the run must stop.
  bool make(const MakeJob& job);

  // Methods for the trainer's thread.

  // Returns the event after the last task of the next batch, one batch after another.
  Event next_end();
  // Returns the runs of the tasks of the oldest batch, one batch after another. The caller has
  // waited for its compute.
  std::array<Interval, kMaxDeviceWork> take_times(const DeviceClock& clock);

  // Waits at most two seconds for all submitted work. Throws RunError if the device is lost.
  bool wait_for_end();

  // Bytes on the GPU, with those of nvJPEG.
  Bytes memory() const { return memory_; }
  const JpegBatchDecoder* decoder() const { return decoder_.get(); }  // null: it decodes nothing

 private:
  // Events around the tasks of a batch.
  struct Marks {
    Event copy_begin, copy_end, decode_begin, decode_end, augment_begin, augment_end;
  };
  struct MadeBatch {
    Marks marks;
    bool decodes = false;
  };
  // Memory of one batch.
  struct Slot {
    std::byte* tensors = nullptr;    // device memory: the result
    std::byte* input = nullptr;      // device memory: pixels and crops, as in the mixed slot
    SampleJob* jobs = nullptr;       // device memory: the table of the kernel
    SampleJob* host_jobs = nullptr;  // page-locked
  };
  // Decoded pixels of a part of a batch. Two take turns.
  struct PixelBuffer {
    std::byte* place = nullptr;  // device memory
    Event read;                  // recorded after the kernel that reads it
    bool is_used = false;
  };
  // Samples of a batch whose decoded pixels fit one buffer.
  struct Part {
    std::size_t first = 0, count = 0;
    std::size_t buffer = 0;
  };

  void check_fit(const MakePlan& plan);
  void take_memory(const MakePlan& plan);
  std::byte* device_memory(std::size_t bytes, const char* what);
  void make_decoder(const MakePlan& plan, std::shared_ptr<Nvjpeg> nvjpeg,
                    const std::atomic<int>& stop);
  void warm_up();
  Marks take_marks();
  void place_samples(const MakeJob& job, Slot& slot);
  std::byte* place_pixels(std::size_t sample, std::size_t& used);
  const std::byte* device_bytes(const SampleEntry& entry, const Slot& slot) const {
    return (entry.is_held ? kept_ : slot.input) + entry.offset;
  }
  Region region_to_decode(const SampleEntry& entry) const;
  void ask_about(const HeldData& data);
  JpegTask decode_task(const MakeJob& job, std::size_t sample, const Slot& slot) const;
  void copy_input(const MakeJob& job, const Slot& slot, const Marks& marks);
  bool decode_part(const MakeJob& job, const Part& part, Slot& slot, MadeBatch& batch);
  bool settle_outcomes(const MakeJob& job, Slot& slot, const Marks& marks);
  bool replace(const MakeJob& job, std::size_t sample, const SampleError& error, Slot& slot);
  void augment_part(const Part& part, const Slot& slot);
  void check(const char* what, const Status& status) const { objects_.check(what, status); }

  Runtime& runtime_;
  const std::atomic<int>& stop_;
  DeviceObjects objects_;  // after the start, used only by the device thread
  const AugmentOptions options_;
  const std::size_t batch_, tensor_bytes_, crop_bytes_;  // bytes of one sample
  std::size_t pixel_bytes_ = 0;                          // size of a PixelBuffer
  Bytes memory_ = 0;
  const std::byte* kept_ = nullptr;  // device memory: the data set of keep()
  std::unordered_map<std::int64_t, std::string_view> refused_;  // kept samples that nvJPEG refuses
  AugmentJob job_;                                              // template of every launch
  Stream copy_stream_, decode_stream_, work_stream_;
  std::vector<Slot> slots_;
  std::array<PixelBuffer, 2> pixels_;
  std::unique_ptr<JpegBatchDecoder> decoder_;

  // Used only by the device thread.
  std::size_t made_ = 0;  // batches
  Event later_begin_;     // begins of decodes after the first one of a batch
  std::vector<Part> parts_;
  std::size_t next_buffer_ = 0;
  std::vector<JpegTask> tasks_;
  std::vector<std::size_t> task_samples_;  // places in the batch
  std::vector<JpegOutcome> outcomes_;
  std::vector<Region> held_;  // regions that are decoded here, of the samples of the batch
  std::vector<std::byte*> pixel_places_;  // places of samples that are decoded here
  std::byte* crop_ = nullptr;             // page-locked, for a replaced sample
  SampleJob* replaced_job_ = nullptr;     // page-locked, for its entry of the table
  Event crop_copied_;
  Event end_;  // end of each stream

  std::mutex mutex_;         // protects all below
  Fifo<MadeBatch> batches_;  // batches whose times were not taken
  std::size_t ordered_ = 0;  // batches whose end was returned
  std::vector<Marks> free_marks_;
};

}  // namespace loaderscope::cuda
