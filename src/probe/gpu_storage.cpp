// The way of reads from storage to the first GPU: directly, or only through host memory.
#include "device/cuda/device_objects.h"
#include "device/cuda/direct_storage.h"
#include "loaderscope/errors.h"
#include "probe/measurement.h"
#include "probe/probed_gpu.h"

namespace loaderscope::probe {
namespace {

constexpr std::size_t kReadBytes = 4096;

}  // namespace

void measure_gpu_storage(const ProbeContext& probing, Outcome& outcome) {
  cuda::Runtime& runtime = usable_runtime(probing);
  const std::string& path = probing.data.file();
  if (path.empty()) throw RunError("it needs --data, or a file with --path");
  const cuda::CuFileLibrary library = cuda::find_cufile();
  if (!library.calls) throw RunError(library.reason);
  cuda::DeviceObjects objects(runtime, "GPU 0");
  void* const target = objects.memory(kReadBytes, "a block of a file");
  const cuda::StorageWay way = cuda::find_storage_way(*library.calls, path, target, kReadBytes);
  const bool is_own = way == cuda::StorageWay::peer_to_peer;
  outcome.facts.push_back({"way", is_own ? "p2p" : "nvidia-fs"});
  outcome.lines.push_back(std::string("cuFile reads into GPU memory without host memory, by ") +
                          (is_own ? "PCI P2PDMA of the kernel" : "the driver nvidia-fs"));
}

}  // namespace loaderscope::probe
