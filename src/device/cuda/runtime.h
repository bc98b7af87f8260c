// The seam between the CUDA device and the CUDA runtime: every call that is made of it, in plain
// types. The real one is the only place that sees CUDA headers; tests hand in a pretend one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "device/cuda/augment_job.h"
#include "device/cuda/normalise.h"
#include "loaderscope/units.h"

namespace loaderscope::cuda {

// The result of a call: the runtime's error code and its name, "cudaErrorMemoryAllocation".
struct Status {
  int code = 0;
  std::string name;

  bool ok() const { return code == 0; }
};

// Handles of the runtime; what they point to is its business.
struct Stream {
  void* handle = nullptr;
};
struct Event {
  void* handle = nullptr;
};
struct Graph {
  void* handle = nullptr;
};

struct Properties {
  std::string name;
  int major = 0, minor = 0;  // compute capability
  Bytes memory = 0;
  std::string pci_address{};  // "0000:65:00.0"
};

enum class HostKind : std::uint8_t {
  plain,           // page-locked
  write_combined,  // page-locked, not cached by the CPU: it is slow to read there
};

// A word that kernels read while they run: in page-locked memory, written by the host. Not 0: they
// are to end at once.
using AbortWord = volatile std::int64_t;

struct Spin {
  Nanos duration = 0;
  const volatile Nanos* variable = nullptr;  // not null: page-locked; the duration when it begins
  const AbortWord* abort = nullptr;
};

// A barrier of ranks on their devices. Each rank writes the number of its step, and continues once
// all others have reached that step.
struct Gate {
  volatile std::int64_t* arrived = nullptr;  // page-locked; one word per rank
  std::int32_t rank = 0, ranks = 1;
  std::int64_t step = 0;  // counted from 1
  const AbortWord* abort = nullptr;
};

// Square matrices: c = a b, `a` and `b` of 2-byte values, `c` of 4-byte values.
struct Gemm {
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  std::int32_t size = 0;  // rows; a multiple of 64
};

// Calls are made from several threads at once. A call acts on the device that its thread has chosen
// with set_device; a stream or an event belongs to the device that was chosen when it was made.
class Runtime {
 public:
  virtual ~Runtime() = default;

  // The host's clock and its sleep are those of CLOCK_MONOTONIC; `stop` not 0 ends a sleep early.
  virtual Nanos now() = 0;
  virtual void sleep_until(Nanos at, const std::atomic<int>& stop) = 0;

  virtual Status versions(int& driver, int& runtime) = 0;  // 13000 is 13.0; driver 0: there is none
  virtual Status device_count(int& count) = 0;
  virtual Status properties(int device, Properties& properties) = 0;
  virtual Status set_device(int device) = 0;
  virtual Status synchronise_device() = 0;

  virtual Status make_stream(Stream& stream) = 0;
  virtual Status free_stream(Stream stream) = 0;
  virtual Status wait_event(Stream stream, Event event) = 0;  // later work on `stream` waits

  virtual Status make_event(Event& event) = 0;  // supports timing; host waits for it block
  virtual Status free_event(Event event) = 0;
  virtual Status record(Event event, Stream stream) = 0;
  virtual Status query(Event event, bool& done) = 0;
  virtual Status synchronise(Event event) = 0;
  virtual Status elapsed(Event from, Event to, double& ms) = 0;  // below 0: `to` came first

  virtual Status memory_info(std::size_t& free, std::size_t& total) = 0;  // the chosen device's
  virtual Status allocate(std::size_t bytes, void*& place) = 0;
  virtual Status free(void* place) = 0;
  virtual Status fill(void* place, int value, std::size_t bytes) = 0;
  virtual Status allocate_host(std::size_t bytes, HostKind kind, void*& place) = 0;
  virtual Status free_host(void* place) = 0;
  virtual Status register_host(void* place, std::size_t bytes) = 0;
  virtual Status unregister_host(void* place) = 0;
  virtual Status copy_to_device(void* to, const void* host, std::size_t bytes, Stream stream) = 0;
  virtual Status copy_to_host(void* host, const void* from, std::size_t bytes, Stream stream) = 0;
  virtual Status copy_on_device(void* to, const void* from, std::size_t bytes, Stream stream) = 0;

  virtual Status spin(const Spin& spin, Stream stream) = 0;
  virtual Status gate(const Gate& gate, Stream stream) = 0;
  virtual Status normalise(const Normalisation& job, Stream stream) = 0;
  virtual Status augment(const AugmentJob& job, Stream stream) = 0;
  // The matrix library of the chosen device, in use from the first `begin` until `end` was called
  // as often.
  virtual void begin_products() = 0;
  virtual void end_products() = 0;
  virtual Status gemm(const Gemm& gemm, Stream stream) = 0;
  virtual std::string gemm_library() = 0;  // "cuBLAS 13.0.2", "built-in kernel": of that device

  // Work that is launched on `stream` between the two calls does not run. It is kept, to be
  // launched as one.
  virtual Status begin_capture(Stream stream) = 0;
  virtual Status end_capture(Stream stream, Graph& graph) = 0;
  virtual Status launch_graph(Graph graph, Stream stream) = 0;
  virtual Status free_graph(Graph graph) = 0;
};

// Null where the program was built without a CUDA toolkit.
std::shared_ptr<Runtime> real_runtime();

// Translates a failed call of the CUDA runtime into one sentence for the user.

// "PLACE: CAUSE (cudaErrorX); NEXT STEP".
std::string sentence(std::string_view place, const Status& status);

// Throws RunError with the sentence unless `status` is ok.
void check(std::string_view place, const Status& status);

// Returns why no GPU can be used here, and what to do about it; nothing if one can.
std::optional<std::string> why_no_gpu(Runtime* runtime);

// Returns the same, but only if a driver exists and does not hide its GPUs on purpose. The user
// does not expect that case.
std::optional<std::string> why_gpu_unusable(Runtime* runtime);

}  // namespace loaderscope::cuda
