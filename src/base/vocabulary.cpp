#include "loaderscope/vocabulary.h"

#include <algorithm>

namespace loaderscope {

const std::vector<Word<Stage>>& Words<Stage>::table() {
  static const std::vector<Word<Stage>> words = {
      {Stage::read, "read", "Fetch the stored bytes of one sample."},
      {Stage::read_decompress, "read.decompress",
       "Unpack the stored bytes of one sample; a part of read."},
      {Stage::decode, "decode", "Turn the stored bytes of one sample into pixels or tokens."},
      {Stage::augment, "augment", "Crop, resize, flip and convert one decoded sample."},
      {Stage::collate, "collate", "Put the samples of a batch into one block."},
      {Stage::opaque, "opaque", "Work of another loader that cannot be seen inside."},
      {Stage::transport, "transport",
       "Serialise a batch and send it from the worker to the trainer."},
      {Stage::transport_recv, "transport.recv", "Receive a batch and unpack it."},
      {Stage::pin, "pin", "Copy a batch into page-locked memory."},
      {Stage::h2d, "h2d", "Copy a batch from the host to the device."},
      {Stage::launch, "launch", "The trainer's own work between two batches."},
      {Stage::compute, "compute", "Train one step on the device."},
      {Stage::gpu_augment, "gpu-augment", "Crop, resize, flip and convert a batch on the device."},
      {Stage::gpu_decode, "gpu-decode", "Decode the images of a batch on the device."},
      {Stage::startup, "startup", "Start one worker."},
      {Stage::startup_parent, "startup.parent", "Start one worker after another in the trainer."},
      {Stage::idle, "idle", "A worker is idle because the prefetch depth is reached."},
  };
  return words;
}

const std::vector<Word<Lane>>& Words<Lane>::table() {
  static const std::vector<Word<Lane>> words = {
      {Lane::copy, "copy", "Copies of batches to the device."},
      {Lane::decode, "decode", "The JPEG engines, or kernels that decode."},
      {Lane::work, "work", "Other kernels of the loader."},
      {Lane::compute, "compute", "Training steps."},
  };
  return words;
}

const std::vector<Word<DecodeOn>>& Words<DecodeOn>::table() {
  static const std::vector<Word<DecodeOn>> words = {
      {DecodeOn::cpu, "cpu", "The workers decode."},
      {DecodeOn::gpu, "gpu", "The GPU decodes: its JPEG engines, else its other cores."},
      {DecodeOn::hw, "hw", "The JPEG engines of the GPU decode."},
      {DecodeOn::split, "split", "The GPU decodes a share of each batch, the workers the rest."},
  };
  return words;
}

const std::vector<Word<AugmentOn>>& Words<AugmentOn>::table() {
  static const std::vector<Word<AugmentOn>> words = {
      {AugmentOn::host, "host", "The workers augment."},
      {AugmentOn::gpu, "gpu", "The GPU augments whole batches."},
  };
  return words;
}

const std::vector<Word<ResidentForm>>& Words<ResidentForm>::table() {
  static const std::vector<Word<ResidentForm>> words = {
      {ResidentForm::no, "no", "The workers read each sample in each epoch."},
      {ResidentForm::stored, "stored", "The GPU keeps the stored bytes of all samples."},
      {ResidentForm::decoded, "decoded", "The GPU keeps all images, decoded and made smaller."},
  };
  return words;
}

const std::vector<Word<Cause>>& Words<Cause>::table() {
  static const std::vector<Word<Cause>> words = {
      {Cause::read, "read", "The step waits for stored bytes."},
      {Cause::decode, "decode", "The step waits for a decoder."},
      {Cause::augment, "augment", "The step waits for augmentation."},
      {Cause::collate, "collate", "The step waited for its samples to be put together."},
      {Cause::opaque, "opaque", "The step waited for work that cannot be seen inside."},
      {Cause::transport, "transport", "The finished batch is on its way to the trainer."},
      {Cause::pin, "pin",
       "The batch is being copied, or queued to be copied, into page-locked memory."},
      {Cause::h2d, "h2d", "The batch is on its way to the device."},
      {Cause::launch, "launch", "The batch is deliverable and the trainer does something else."},
      {Cause::contention, "contention", "A thread was ready to run and had no core."},
      {Cause::prefetch, "prefetch", "The worker is idle because the prefetch depth is reached."},
      {Cause::startup, "startup", "Workers are starting, or an epoch is."},
      {Cause::other, "other", "What no other cause explains."},
  };
  return words;
}

const std::vector<Word<Why>>& Words<Why>::table() {
  static const std::vector<Word<Why>> words = {
      {Why::capacity, "capacity",
       "The workers are never idle. More or faster workers remove the stall."},
      {Why::depth, "depth",
       "The worker is idle at the prefetch depth. A larger depth removes the stall."},
      {Why::latency, "latency", "One batch takes longer than the prefetch depth covers."},
      {Why::epoch, "epoch", "The stall is at the first batch of an epoch, or while workers start."},
  };
  return words;
}

const std::vector<Word<Executor>>& Words<Executor>::table() {
  static const std::vector<Word<Executor>> words = {
      {Executor::inline_, "inline", "No workers: the trainer makes each batch itself."},
      {Executor::threads, "threads", "Workers are threads of the trainer's process."},
      {Executor::processes, "processes", "Workers are processes, as in PyTorch."},
      {Executor::opaque, "opaque",
       "What a loader is found to have that cannot be looked into; it cannot be chosen."},
  };
  return words;
}

const std::vector<Word<TaskShape>>& Words<TaskShape>::table() {
  static const std::vector<Word<TaskShape>> words = {
      {TaskShape::batch, "batch", "One worker makes a whole batch, as in PyTorch."},
      {TaskShape::sample, "sample",
       "The samples of a batch are spread over all workers, as in DALI and FFCV."},
  };
  return words;
}

const std::vector<Word<MemoryMode>>& Words<MemoryMode>::table() {
  static const std::vector<Word<MemoryMode>> words = {
      {MemoryMode::pageable, "pageable",
       "Ordinary memory; the driver copies through a bounce buffer."},
      {MemoryMode::pin_thread, "pin-thread",
       "A thread copies each finished batch into page-locked memory, as pin_memory=True does."},
      {MemoryMode::pinned_slots, "pinned-slots", "Workers write straight into page-locked slots."},
      {MemoryMode::registered, "registered", "Ordinary memory that is page-locked afterwards."},
      {MemoryMode::write_combined, "write-combined",
       "Page-locked memory that the host only writes, past its caches."},
  };
  return words;
}

const std::vector<Word<CopyMode>>& Words<CopyMode>::table() {
  static const std::vector<Word<CopyMode>> words = {
      {CopyMode::sync, "sync", "Queued on the compute stream, then the host waits for it."},
      {CopyMode::async, "async", "Queued on the compute stream. The host continues."},
      {CopyMode::stream, "stream", "Queued on a separate stream, at the same time as the compute."},
  };
  return words;
}

const std::vector<Word<StartMethod>>& Words<StartMethod>::table() {
  static const std::vector<Word<StartMethod>> words = {
      {StartMethod::fork, "fork", "A worker process is a copy of the trainer's."},
      {StartMethod::spawn, "spawn",
       "A worker process starts a new interpreter and imports everything again."},
      {StartMethod::forkserver, "forkserver",
       "A worker process is a copy of a small server process."},
  };
  return words;
}

const std::vector<Word<Transfer>>& Words<Transfer>::table() {
  static const std::vector<Word<Transfer>> words = {
      {Transfer::u8, "u8", "Send one byte per value. The device normalises it."},
      {Transfer::f16, "f16", "Send two bytes per value."},
      {Transfer::f32, "f32", "Send four bytes per value."},
  };
  return words;
}

const std::vector<Word<Layout>>& Words<Layout>::table() {
  static const std::vector<Word<Layout>> words = {
      {Layout::nchw, "nchw", "One plane per colour, as PyTorch's convolutions expect by default."},
      {Layout::nhwc, "nhwc", "Store three values per pixel, as PyTorch's channels_last."},
  };
  return words;
}

const std::vector<Word<FileAccess>>& Words<FileAccess>::table() {
  static const std::vector<Word<FileAccess>> words = {
      {FileAccess::pread, "pread", "Read into a buffer."},
      {FileAccess::mmap, "mmap", "Map the file and read through the mapping."},
      {FileAccess::direct, "direct", "Read into a buffer past the page cache (O_DIRECT)."},
      {FileAccess::io_uring, "io-uring",
       "Submit the opens and reads of a batch ahead, --queue-depth of them, with io_uring."},
      {FileAccess::io_uring_direct, "io-uring-direct", "The same, past the page cache."},
      {FileAccess::http, "http",
       "Request ranges of objects from servers, many at once. Set by http://, https:// and s3:// "
       "URLs."},
  };
  return words;
}

const std::vector<Word<CacheState>>& Words<CacheState>::table() {
  static const std::vector<Word<CacheState>> words = {
      {CacheState::as_is, "as-is", "Leave the page cache as it is."},
      {CacheState::warm, "warm", "Read all data once before the run."},
      {CacheState::cold, "cold", "Evict all data from the page cache before the run."},
  };
  return words;
}

const std::vector<Word<OnError>>& Words<OnError>::table() {
  static const std::vector<Word<OnError>> words = {
      {OnError::skip, "skip", "Count it, name it, and take the next good sample."},
      {OnError::fail, "fail", "End the run."},
  };
  return words;
}

const std::vector<Word<OnOff>>& Words<OnOff>::table() {
  static const std::vector<Word<OnOff>> words = {{OnOff::off, "off", "No."},
                                                 {OnOff::on, "on", "Yes."}};
  return words;
}

const std::vector<Word<DctScale>>& Words<DctScale>::table() {
  static const std::vector<Word<DctScale>> words = {
      {DctScale::off, "off", "Decode at full size."},
      {DctScale::auto_, "auto",
       "Decode at 1/2 or 1/4 where the crop is that much larger than the output."},
  };
  return words;
}

const std::vector<Word<Prove>>& Words<Prove>::table() {
  static const std::vector<Word<Prove>> words = {
      {Prove::off, "off", "One run, no proof."},
      {Prove::blamed, "blamed", "Knock out what is blamed."},
      {Prove::all, "all", "Device only, from memory, from the page cache, from a cold cache."},
      {Prove::fix, "fix", "Run what is advised, alternating with the present settings."},
  };
  return words;
}

Cause stage_cause(Stage stage) {
  switch (stage) {
    case Stage::read:
    case Stage::read_decompress:
      return Cause::read;
    case Stage::decode:
    case Stage::gpu_decode:
      return Cause::decode;
    case Stage::augment:
    case Stage::gpu_augment:
      return Cause::augment;
    case Stage::collate:
      return Cause::collate;
    case Stage::opaque:
      return Cause::opaque;
    case Stage::transport:
    case Stage::transport_recv:
      return Cause::transport;
    case Stage::pin:
      return Cause::pin;
    case Stage::h2d:
      return Cause::h2d;
    case Stage::launch:
      return Cause::launch;
    case Stage::startup:
    case Stage::startup_parent:
      return Cause::startup;
    case Stage::idle:
      return Cause::prefetch;
    case Stage::compute:
      return Cause::other;  // no stall; unused
  }
  return Cause::other;
}

bool makes_batches(Cause cause) {
  return std::any_of(kMakingStages.begin(), kMakingStages.end(),
                     [&](Stage stage) { return stage_cause(stage) == cause; });
}

bool is_per_sample(Stage stage) {
  switch (stage) {
    case Stage::read:
    case Stage::read_decompress:
    case Stage::decode:
    case Stage::augment:
    case Stage::opaque:
      return true;
    default:
      return false;
  }
}

}  // namespace loaderscope
