// The one place that calls the CUDA runtime.
#include <cuda_runtime_api.h>

#include <array>
#include <cstdlib>

#include "base/sleep.h"
#include "base/thread_meter.h"
#include "device/cuda/cublas.h"
#include "device/cuda/kernels.h"
#include "device/cuda/library_search.h"
#include "device/cuda/runtime.h"

namespace loaderscope::cuda {
namespace {

cudaStream_t native(Stream stream) { return static_cast<cudaStream_t>(stream.handle); }
cudaEvent_t native(Event event) { return static_cast<cudaEvent_t>(event.handle); }
cudaGraphExec_t native(Graph graph) { return static_cast<cudaGraphExec_t>(graph.handle); }

Status status(cudaError_t code) {
  if (code == cudaSuccess) return {};
  cudaGetLastError();  // an error that is reported here is not to be found by the next call
  return {static_cast<int>(code), cudaGetErrorName(code)};
}

Status status(int code) { return status(static_cast<cudaError_t>(code)); }

class RealRuntime : public Runtime {
 public:
  RealRuntime() {
    // Streams of ranks that wait for each other on one GPU must not share a hardware queue, or they
    // would wait for ever. The shell may have set a smaller value, as users of Megatron do.
    ::setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1);
  }

  Nanos now() override { return monotonic_now(); }
  void sleep_until(Nanos at, const std::atomic<int>& stop) override {
    loaderscope::sleep_until(at, &stop);
  }

  Status versions(int& driver, int& runtime) override {
    runtime = CUDART_VERSION;
    return status(cudaDriverGetVersion(&driver));
  }
  Status device_count(int& count) override { return status(cudaGetDeviceCount(&count)); }
  Status properties(int device, Properties& properties) override;
  Status set_device(int device) override { return status(cudaSetDevice(device)); }
  Status synchronise_device() override { return status(cudaDeviceSynchronize()); }

  Status make_stream(Stream& stream) override {
    cudaStream_t made = nullptr;
    const Status result = status(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking));
    stream.handle = made;
    return result;
  }
  Status free_stream(Stream stream) override { return status(cudaStreamDestroy(native(stream))); }
  Status wait_event(Stream stream, Event event) override {
    return status(cudaStreamWaitEvent(native(stream), native(event), 0));
  }

  Status make_event(Event& event) override {
    cudaEvent_t made = nullptr;
    const Status result = status(cudaEventCreateWithFlags(&made, cudaEventBlockingSync));
    event.handle = made;
    return result;
  }
  Status free_event(Event event) override { return status(cudaEventDestroy(native(event))); }
  Status record(Event event, Stream stream) override {
    return status(cudaEventRecord(native(event), native(stream)));
  }
  Status query(Event event, bool& done) override {
    const cudaError_t code = cudaEventQuery(native(event));
    done = code == cudaSuccess;
    const Status result = status(code);  // takes "not ready" away from the next call too
    return code == cudaErrorNotReady ? Status{} : result;
  }
  Status synchronise(Event event) override { return status(cudaEventSynchronize(native(event))); }
  Status elapsed(Event from, Event to, double& ms) override {
    float measured = 0;
    const Status result = status(cudaEventElapsedTime(&measured, native(from), native(to)));
    ms = static_cast<double>(measured);
    return result;
  }

  Status memory_info(std::size_t& free, std::size_t& total) override {
    return status(cudaMemGetInfo(&free, &total));
  }
  Status allocate(std::size_t bytes, void*& place) override {
    return status(cudaMalloc(&place, bytes));
  }
  Status free(void* place) override { return status(cudaFree(place)); }
  Status fill(void* place, int value, std::size_t bytes) override {
    return status(cudaMemset(place, value, bytes));
  }
  Status allocate_host(std::size_t bytes, HostKind kind, void*& place) override {
    const unsigned combined = kind == HostKind::write_combined ? cudaHostAllocWriteCombined : 0U;
    return status(
        cudaHostAlloc(&place, bytes, cudaHostAllocPortable | cudaHostAllocMapped | combined));
  }
  Status free_host(void* place) override { return status(cudaFreeHost(place)); }
  Status register_host(void* place, std::size_t bytes) override {
    return status(cudaHostRegister(place, bytes, cudaHostRegisterPortable));
  }
  Status unregister_host(void* place) override { return status(cudaHostUnregister(place)); }
  Status copy_to_device(void* to, const void* host, std::size_t bytes, Stream stream) override {
    return status(cudaMemcpyAsync(to, host, bytes, cudaMemcpyHostToDevice, native(stream)));
  }
  Status copy_to_host(void* host, const void* from, std::size_t bytes, Stream stream) override {
    return status(cudaMemcpyAsync(host, from, bytes, cudaMemcpyDeviceToHost, native(stream)));
  }
  Status copy_on_device(void* to, const void* from, std::size_t bytes, Stream stream) override {
    return status(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, native(stream)));
  }

  Status spin(const Spin& spin, Stream stream) override {
    return status(launch_spin(spin, native(stream)));
  }
  Status gate(const Gate& gate, Stream stream) override {
    return status(launch_gate(gate, native(stream)));
  }
  Status normalise(const Normalisation& job, Stream stream) override {
    return status(launch_normalise(job, native(stream)));
  }
  Status augment(const AugmentJob& job, Stream stream) override {
    return status(launch_augment(job, native(stream)));
  }
  void begin_products() override { cublas().open(device()); }
  void end_products() override { cublas().close(device()); }
  Status gemm(const Gemm& gemm, Stream stream) override {
    if (!cublas().is_open(device())) return status(launch_gemm(gemm, native(stream)));
    return cublas().gemm(device(), gemm, stream) ? Status{} : Status{1, "cublasGemmEx"};
  }
  std::string gemm_library() override {
    return cublas().is_open(device()) ? "cuBLAS " + cublas().version() : "built-in kernel";
  }

  Status begin_capture(Stream stream) override {
    return status(cudaStreamBeginCapture(native(stream), cudaStreamCaptureModeThreadLocal));
  }
  Status end_capture(Stream stream, Graph& graph) override;
  Status launch_graph(Graph graph, Stream stream) override {
    return status(cudaGraphLaunch(native(graph), native(stream)));
  }
  Status free_graph(Graph graph) override { return status(cudaGraphExecDestroy(native(graph))); }

 private:
  // Loaded when the first matrices are multiplied: it takes a second and half a gigabyte.
  static Cublas& cublas() {
    static Cublas loaded(cublas_libraries(python_prefixes()));
    return loaded;
  }
  // Returns the device that the calling thread has chosen.
  static int device() {
    int chosen = 0;
    cudaGetDevice(&chosen);
    return chosen;
  }
};

Status RealRuntime::properties(int device, Properties& properties) {
  cudaDeviceProp found{};
  const Status result = status(cudaGetDeviceProperties(&found, device));
  if (!result.ok()) return result;
  properties.name = found.name;
  properties.major = found.major;
  properties.minor = found.minor;
  properties.memory = static_cast<Bytes>(found.totalGlobalMem);
  std::array<char, 32> address{};
  if (cudaDeviceGetPCIBusId(address.data(), static_cast<int>(address.size()), device) ==
      cudaSuccess) {
    properties.pci_address = address.data();
  }
  return result;
}

Status RealRuntime::end_capture(Stream stream, Graph& graph) {
  cudaGraph_t captured = nullptr;
  if (const Status ended = status(cudaStreamEndCapture(native(stream), &captured)); !ended.ok())
    return ended;
  cudaGraphExec_t executable = nullptr;
  const Status made = status(cudaGraphInstantiateWithFlags(&executable, captured, 0));
  graph.handle = executable;
  const Status freed = status(cudaGraphDestroy(captured));
  return made.ok() ? freed : made;
}

}  // namespace

std::shared_ptr<Runtime> real_runtime() {
  static const auto runtime = std::make_shared<RealRuntime>();
  return runtime;
}

}  // namespace loaderscope::cuda
