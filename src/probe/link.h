// The link matrix: how fast batches of each size get to the GPU from each kind of host memory.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "device/cuda/runtime.h"
#include "loaderscope/vocabulary.h"

namespace loaderscope::probe {

struct LinkOptions {
  int device = 0;
  std::vector<Bytes> sizes = {Bytes{64} << 10, Bytes{256} << 10, Bytes{1} << 20,  Bytes{4} << 20,
                              Bytes{16} << 20, Bytes{64} << 20,  Bytes{256} << 20};
  std::vector<MemoryMode> memories = {};  // empty: all
  std::vector<CopyMode> copies = {};      // empty: all
  int samples = 5;                        // number for each cell; the median counts
  Bytes at_least = 64 << 20;              // copied per sample
  std::filesystem::path root = "/";       // root of the kernel's files, which contain the GPU's
                                          // place
};

// One cell. Rates in bytes per second.
struct LinkCell {
  MemoryMode memory = MemoryMode::pageable;
  CopyMode copy = CopyMode::async;
  Bytes bytes = 0;
  double median = 0, low = 0, high = 0;
  std::string fallback;  // reason why the memory is of another kind
};

// A loop of cudaMemcpyAsync from page-locked memory and nothing else, by the host's clock.
struct BareLoop {
  Bytes bytes = 0;
  double median = 0;
};

struct LinkMatrix {
  std::string gpu;
  std::int64_t near_cpus = 0;  // CPUs of the GPU's NUMA node, on which the host's side ran; 0:
                               // anywhere
  std::vector<LinkCell> cells;
  std::vector<BareLoop> bare;
  bool interrupted = false;
};

// Follows nvbandwidth's method, on the CPUs of the GPU's node. Each sample has four untimed copies
// and at least 16 timed ones.
//
// Copies from page-locked memory are queued after a kernel that ends when all are there. Events
// time them, so that the time excludes the host's calls. The host times copy mode `sync`, which
// waits for each copy, and copies from pageable memory. With `stream`, a kernel computes on another
// stream meanwhile. Throws RunError.
LinkMatrix measure_link(std::shared_ptr<cuda::Runtime> runtime, const LinkOptions& options,
                        const std::atomic<int>& stop);

}  // namespace loaderscope::probe
