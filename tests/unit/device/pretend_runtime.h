// A CUDA runtime that only pretends: streams, events, gates and memory with scripted timings. They
// run on the real clock or on a scripted one. The scripted clock moves by one microsecond per call,
// and to the end of each wait.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/cpu_set.h"
#include "device/cuda/runtime.h"

namespace loaderscope::cuda {

class PretendRuntime : public Runtime {
 public:
  enum class Time : std::uint8_t { scripted, real };
  explicit PretendRuntime(Time time = Time::scripted) : real_time_(time == Time::real) {}

  // The script.
  int devices = 1, driver = 13000, major = 9, minor = 0;
  std::string pci_address;
  double drift = 0;  // seconds that the device's clock gains per second
  Nanos event_latency = kMicrosecond;
  double copy_rate = 25;      // bytes per ns
  double memory_rate = 1500;  // bytes per ns that a copy on the device moves
  double augment_rate = 1;    // values per ns
  bool makes_samples = true;  // false: `augment` only takes its time
  Nanos context_takes = 0;    // extra time of the first page-locking, which makes the context
  double lock_rate = 0;       // bytes per ns; 0: page-locking takes no time
  Nanos kernel_cost = 0;      // time of a kernel that spins, without its spin
  double product_rate = 1e5;  // multiplications per ns
  Nanos clock_ramp_end = 0;   // since the first product; until then it has a fifth of that rate
  // Makes a copy on the real clock wait for the earlier work of its stream. Meanwhile it keeps all
  // other threads out of the runtime, as a driver does for pageable memory.
  bool copies_block = false;
  Bytes memory = Bytes{1} << 40, host_memory = Bytes{1} << 40;
  // slowed["gemm"]["jpeg"] = 0.5: a product that is submitted while images are decoded on another
  // stream has half of its speed.
  std::map<std::string, std::map<std::string, double>> slowed;
  // From the `after`-th call on, `call` fails with that error.
  void fail(const std::string& call, int after, const std::string& name);

  // Submits work of another pretended library. `action` runs when the work ends, in the order of
  // the ends, within a later call.
  void submit_work(Stream stream, const std::string& what, Nanos duration,
                   std::function<void()> action);
  // From now on, no work of the stream begins.
  void hang(Stream stream);
  // Frees the memory that a lost device keeps.
  void free_all();
  // Returns whether allocate() gave all of these bytes.
  bool is_device_memory(const void* place, std::size_t bytes) const;

  // The calls and work so far.
  struct Work {
    std::string what;
    Nanos begin = 0, end = 0;
    const void* place = nullptr;
    const void* from = nullptr;  // source of a copy
  };
  std::vector<Work> work(const std::string& what) const;
  int calls(const std::string& call) const;
  CpuSet allocated_on;         // the CPUs of the thread that last allocated host memory
  std::int64_t owned() const;  // streams, events, graphs, allocations and registrations not freed

  Nanos now() override;
  void sleep_until(Nanos at, const std::atomic<int>& stop) override;
  Status versions(int& driver, int& runtime) override;
  Status device_count(int& count) override;
  Status properties(int device, Properties& properties) override;
  Status set_device(int device) override;
  Status synchronise_device() override;
  Status make_stream(Stream& stream) override;
  Status free_stream(Stream stream) override;
  Status wait_event(Stream stream, Event event) override;
  Status make_event(Event& event) override;
  Status free_event(Event event) override;
  Status record(Event event, Stream stream) override;
  Status query(Event event, bool& done) override;
  Status synchronise(Event event) override;
  Status elapsed(Event from, Event to, double& ms) override;
  Status memory_info(std::size_t& free, std::size_t& total) override;
  Status allocate(std::size_t bytes, void*& place) override;
  Status free(void* place) override;
  Status fill(void* place, int value, std::size_t bytes) override;
  Status allocate_host(std::size_t bytes, HostKind kind, void*& place) override;
  Status free_host(void* place) override;
  Status register_host(void* place, std::size_t bytes) override;
  Status unregister_host(void* place) override;
  Status copy_to_device(void* to, const void* host, std::size_t bytes, Stream stream) override;
  Status copy_to_host(void* host, const void* from, std::size_t bytes, Stream stream) override;
  Status copy_on_device(void* to, const void* from, std::size_t bytes, Stream stream) override;
  Status spin(const Spin& spin, Stream stream) override;
  Status gate(const Gate& gate, Stream stream) override;
  Status normalise(const Normalisation& job, Stream stream) override;
  Status augment(const AugmentJob& job, Stream stream) override;
  void begin_products() override;
  void end_products() override;
  Status gemm(const Gemm& gemm, Stream stream) override;
  std::string gemm_library() override { return "pretended products"; }
  Status begin_capture(Stream stream) override;
  Status end_capture(Stream stream, Graph& graph) override;
  Status launch_graph(Graph graph, Stream stream) override;
  Status free_graph(Graph graph) override;

 private:
  struct PretendEvent {
    bool recorded = false, known = false;
    Nanos at = 0;
  };
  enum class Kind : std::uint8_t { work, record, wait, gate };
  struct Task {
    Kind kind = Kind::work;
    Nanos submitted = 0, duration = 0;
    Work noted;
    PretendEvent* event = nullptr;
    Gate gate;
    std::function<void()> action{};
  };
  struct PretendStream {
    std::deque<Task> tasks;  // tasks whose end is unknown
    Nanos tail = 0;
    std::string last;  // the work that was submitted last
    bool capturing = false;
    std::vector<Spin> captured;
  };

  Status called(const std::string& call);
  Nanos clock() const;
  bool aborted() const;
  void submit(Stream stream, Task task);
  void advance();
  bool advance(PretendStream& stream);
  void run_ended_actions();
  double scripted_speed(const Task& task, const PretendStream& own) const;
  bool pass_gate(const Task& task, Nanos at);
  Status take_memory(std::size_t bytes, Bytes& left, void*& place);  // page-aligned
  void launch_work(Stream stream, const std::string& what, Nanos duration,
                   const void* place = nullptr, const void* from = nullptr);

  const bool real_time_;
  mutable std::recursive_mutex mutex_;
  Nanos now_ = 1'000 * kSecond;
  Nanos first_product_ = 0;
  std::map<std::string, int> calls_;
  std::map<std::string, std::pair<int, std::string>> failures_;
  std::vector<std::unique_ptr<PretendStream>> streams_;
  std::vector<std::unique_ptr<PretendEvent>> events_;
  std::vector<std::unique_ptr<std::vector<Spin>>> graphs_;
  std::map<void*, std::size_t> allocated_, on_device_;
  std::map<std::int64_t, std::map<std::int32_t, Nanos>> arrivals_;  // keys: gate's step and rank
  const AbortWord* abort_ = nullptr;
  std::vector<Work> done_;
  std::multimap<Nanos, std::function<void()>> actions_;  // keys: ends of their work
  PretendEvent never_;
  bool hangs_ = false;
  std::int64_t owned_ = 0;
};

}  // namespace loaderscope::cuda
