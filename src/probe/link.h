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
  std::vector<CopyMode> copies = {};      // likewise
  int samples = 5;                        // of each cell; the median counts
  Bytes at_least = 64 << 20;              // copied per sample
  std::filesystem::path root = "/";       // of the kernel's files, which say where the GPU is
};

// One cell. Rates in bytes per second.
struct LinkCell {
  MemoryMode memory = MemoryMode::pageable;
  CopyMode copy = CopyMode::async;
  Bytes bytes = 0;
  double median = 0, low = 0, high = 0;
  std::string fallback;  // why the memory is not what it should be
};

// A loop of cudaMemcpyAsync from page-locked memory and nothing else, by the host's clock.
struct BareLoop {
  Bytes bytes = 0;
  double median = 0;
};

struct LinkMatrix {
  std::string gpu;
  std::int64_t near_cpus = 0;  // of the GPU's NUMA node, on which the host's side ran; 0: anywhere
  std::vector<LinkCell> cells;
  std::vector<BareLoop> bare;
  bool interrupted = false;
};

// By nvbandwidth's method, on the CPUs of the GPU's node, and of each sample four copies are not
// timed and at least 16 are: copies from page-locked memory are queued behind a kernel that is let
// go when all are there, so that the host's calls are not part of their time, which events take.
// Copy mode `sync` waits for each copy and is timed by the host, as are copies from pageable
// memory; with `stream` a kernel computes on another stream meanwhile. Throws RunError.
LinkMatrix measure_link(std::shared_ptr<cuda::Runtime> runtime, const LinkOptions& options,
                        const std::atomic<int>& stop);

}  // namespace loaderscope::probe
