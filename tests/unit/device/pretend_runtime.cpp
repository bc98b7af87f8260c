#include "unit/device/pretend_runtime.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/sleep.h"
#include "base/thread_meter.h"
#include "loaderscope/device.h"
#include "unit/device/pretend_augment.h"

namespace loaderscope::cuda {

using Lock = std::lock_guard<std::recursive_mutex>;

void PretendRuntime::fail(const std::string& call, int after, const std::string& name) {
  failures_[call] = {after, name};
}

std::vector<PretendRuntime::Work> PretendRuntime::work(const std::string& what) const {
  const Lock lock(mutex_);
  std::vector<Work> found;
  for (const Work& work : done_) {
    if (work.what == what) found.push_back(work);
  }
  return found;
}

int PretendRuntime::calls(const std::string& call) const {
  const Lock lock(mutex_);
  const auto found = calls_.find(call);
  return found == calls_.end() ? 0 : found->second;
}

std::int64_t PretendRuntime::owned() const {
  const Lock lock(mutex_);
  return owned_;
}

Status PretendRuntime::called(const std::string& call) {
  if (!real_time_) now_ += kMicrosecond;
  const int count = ++calls_[call];
  const auto failure = failures_.find(call);
  if (failure == failures_.end() || count <= failure->second.first) return {};
  return {999, failure->second.second};
}

Nanos PretendRuntime::clock() const { return real_time_ ? monotonic_now() : now_; }
Nanos PretendRuntime::now() {
  const Lock lock(mutex_);
  return clock();
}

void PretendRuntime::sleep_until(Nanos at, const std::atomic<int>& stop) {
  if (real_time_) {
    loaderscope::sleep_until(at, &stop);
    return;
  }
  const Lock lock(mutex_);
  now_ = std::max(now_, at);
}

Status PretendRuntime::versions(int& driver_version, int& runtime_version) {
  driver_version = driver;
  runtime_version = 13000;
  return called("versions");
}

Status PretendRuntime::device_count(int& count) {
  count = devices;
  return called("device_count");
}

Status PretendRuntime::properties(int device, Properties& properties) {
  properties = {"Pretender " + std::to_string(device), major, minor, memory, pci_address};
  return called("properties");
}

Status PretendRuntime::set_device(int) {
  const Lock lock(mutex_);
  return called("set_device");
}

bool PretendRuntime::aborted() const {
  if (abort_ == nullptr) return false;
  return std::atomic_ref(*const_cast<std::int64_t*>(abort_)).load(std::memory_order_acquire) != 0;
}

// --- streams and events ---

Status PretendRuntime::make_stream(Stream& stream) {
  const Lock lock(mutex_);
  streams_.push_back(std::make_unique<PretendStream>());
  stream.handle = streams_.back().get();
  ++owned_;
  return called("make_stream");
}

Status PretendRuntime::free_stream(Stream) {
  --owned_;
  return {};
}

Status PretendRuntime::make_event(Event& event) {
  const Lock lock(mutex_);
  events_.push_back(std::make_unique<PretendEvent>());
  event.handle = events_.back().get();
  ++owned_;
  return called("make_event");
}

Status PretendRuntime::free_event(Event) {
  --owned_;
  return {};
}

void PretendRuntime::submit(Stream stream, Task task) {
  auto& own = *static_cast<PretendStream*>(stream.handle);
  task.submitted = clock();
  if (task.kind == Kind::work) {
    task.duration = std::llround(static_cast<double>(task.duration) / scripted_speed(task, own));
    own.last = task.noted.what;
  }
  own.tasks.push_back(std::move(task));
  advance();
}

double PretendRuntime::scripted_speed(const Task& task, const PretendStream& own) const {
  const auto rules = slowed.find(task.noted.what);
  if (rules == slowed.end()) return 1;
  double speed = 1;
  for (const auto& other : streams_) {
    const auto rule = rules->second.find(other->last);
    if (other.get() != &own && other->tail > clock() && rule != rules->second.end())
      speed *= rule->second;
  }
  return speed;
}

void PretendRuntime::advance() {
  bool moved = true;
  while (moved) {
    moved = false;
    for (auto& stream : streams_) moved = advance(*stream) || moved;
  }
  run_ended_actions();
}

void PretendRuntime::run_ended_actions() {
  while (!actions_.empty() && actions_.begin()->first <= clock()) {
    const std::function<void()> action = std::move(actions_.begin()->second);
    actions_.erase(actions_.begin());
    action();
  }
}

void PretendRuntime::submit_work(Stream stream, const std::string& what, Nanos duration,
                                 std::function<void()> action) {
  const Lock lock(mutex_);
  Task task;
  task.duration = duration;
  task.noted.what = what;
  task.action = std::move(action);
  submit(stream, std::move(task));
}

void PretendRuntime::free_all() {
  const Lock lock(mutex_);
  while (!allocated_.empty()) free(allocated_.begin()->first);
}

bool PretendRuntime::is_device_memory(const void* place, std::size_t bytes) const {
  const Lock lock(mutex_);
  const auto begin = reinterpret_cast<std::uintptr_t>(place);
  return std::any_of(on_device_.begin(), on_device_.end(), [&](const auto& block) {
    const auto first = reinterpret_cast<std::uintptr_t>(block.first);
    return begin >= first && begin + bytes <= first + block.second;
  });
}

void PretendRuntime::hang(Stream stream) {
  const Lock lock(mutex_);
  hangs_ = true;
  Task task;
  task.kind = Kind::wait;
  task.event = &never_;
  submit(stream, std::move(task));
}

// Places the tasks of a stream up to the first whose time is not known yet.
bool PretendRuntime::advance(PretendStream& stream) {
  bool moved = false;
  while (!stream.tasks.empty()) {
    Task& task = stream.tasks.front();
    const Nanos at = std::max(stream.tail, task.submitted);
    if (task.kind == Kind::wait && !task.event->known) return moved;
    if (task.kind == Kind::gate && !pass_gate(task, at)) return moved;
    if (task.kind == Kind::wait) stream.tail = std::max(at, task.event->at);
    if (task.kind == Kind::gate) {
      for (const auto& [rank, arrived] : arrivals_[task.gate.step])
        stream.tail = std::max({stream.tail, at, arrived});
    }
    if (task.kind == Kind::record) {
      task.event->known = true;
      task.event->at = at + event_latency;
    }
    if (task.kind == Kind::work) {
      stream.tail = at + task.duration;
      task.noted.begin = at;
      task.noted.end = stream.tail;
      done_.push_back(task.noted);
      if (task.action) actions_.emplace(stream.tail, std::move(task.action));
    }
    stream.tasks.pop_front();
    moved = true;
  }
  return moved;
}

bool PretendRuntime::pass_gate(const Task& task, Nanos at) {
  auto& arrived = arrivals_[task.gate.step];
  arrived.emplace(task.gate.rank, at);
  return task.gate.step == 0 || std::ssize(arrived) == task.gate.ranks || aborted();
}

Status PretendRuntime::record(Event event, Stream stream) {
  const Lock lock(mutex_);
  const Status status = called("record");
  if (!status.ok()) return status;
  Task task;
  task.kind = Kind::record;
  task.event = static_cast<PretendEvent*>(event.handle);
  task.event->recorded = true;
  task.event->known = false;
  submit(stream, std::move(task));
  return {};
}

Status PretendRuntime::wait_event(Stream stream, Event event) {
  const Lock lock(mutex_);
  Task task;
  task.kind = Kind::wait;
  task.event = static_cast<PretendEvent*>(event.handle);
  submit(stream, std::move(task));
  return called("wait_event");
}

Status PretendRuntime::query(Event event, bool& done) {
  const Lock lock(mutex_);
  const Status status = called("query");
  advance();
  const auto* pretend_event = static_cast<PretendEvent*>(event.handle);
  // An abort ends our kernels, and not the work of other libraries.
  done = (aborted() && !hangs_ && actions_.empty()) ||
         (pretend_event->recorded && pretend_event->known && pretend_event->at <= clock());
  if (done) run_ended_actions();  // time has passed since advance()
  return status;
}

Status PretendRuntime::synchronise(Event event) {
  Nanos at = 0;
  {
    const Lock lock(mutex_);
    const Status status = called("synchronise");
    if (!status.ok()) return status;
    const auto* pretend_event = static_cast<PretendEvent*>(event.handle);
    if (!pretend_event->known) return {999, "deadlock"};
    at = pretend_event->at;
    if (!real_time_) now_ = std::max(now_, at);
  }
  if (real_time_) loaderscope::sleep_until(at);
  const Lock lock(mutex_);
  run_ended_actions();
  return {};
}

Status PretendRuntime::synchronise_device() {
  Nanos until = 0;
  {
    const Lock lock(mutex_);
    const Status status = called("synchronise_device");
    advance();
    if (aborted() || !status.ok()) return status;
    for (const auto& stream : streams_) until = std::max(until, stream->tail);
    if (!real_time_) now_ = std::max(now_, until);
  }
  if (real_time_) loaderscope::sleep_until(until);
  const Lock lock(mutex_);
  run_ended_actions();
  return {};
}

Status PretendRuntime::elapsed(Event from, Event to, double& ms) {
  const Lock lock(mutex_);
  const auto* begin = static_cast<PretendEvent*>(from.handle);
  const auto* end = static_cast<PretendEvent*>(to.handle);
  if (!begin->known || !end->known) return {999, "cudaErrorNotReady"};
  const double ns = static_cast<double>(end->at - begin->at) * (1 + drift);
  ms = static_cast<double>(static_cast<float>(ns / 1e6));
  return called("elapsed");
}

// --- memory ---

Status PretendRuntime::take_memory(std::size_t bytes, Bytes& left, void*& place) {
  if (static_cast<Bytes>(bytes) > left) return {2, "cudaErrorMemoryAllocation"};
  left -= static_cast<Bytes>(bytes);
  place = std::aligned_alloc(kSlotAlignment,
                             static_cast<std::size_t>(whole_pages(static_cast<Bytes>(bytes))));
  allocated_[place] = bytes;
  ++owned_;
  return {};
}

Status PretendRuntime::memory_info(std::size_t& free, std::size_t& total) {
  const Lock lock(mutex_);
  free = total = static_cast<std::size_t>(memory);
  return called("memory_info");
}

Status PretendRuntime::allocate(std::size_t bytes, void*& place) {
  const Lock lock(mutex_);
  const Status status = called("allocate");
  if (!status.ok()) return status;
  const Status taken = take_memory(bytes, memory, place);
  if (taken.ok()) on_device_[place] = bytes;
  return taken;
}

Status PretendRuntime::free(void* place) {
  const Lock lock(mutex_);
  const auto* begin = static_cast<const volatile std::byte*>(place);
  const auto* flag = reinterpret_cast<const volatile std::byte*>(abort_);
  if (flag >= begin && flag < begin + allocated_[place]) abort_ = nullptr;
  allocated_.erase(place);
  on_device_.erase(place);
  std::free(place);
  --owned_;
  return {};
}

Status PretendRuntime::fill(void* place, int value, std::size_t bytes) {
  std::memset(place, value, std::min<std::size_t>(bytes, 4096));
  return {};
}

Status PretendRuntime::allocate_host(std::size_t bytes, HostKind kind, void*& place) {
  const Lock lock(mutex_);
  allocated_on = allowed_cpus();
  const Status status =
      called(kind == HostKind::plain ? "allocate_host" : "allocate_write_combined");
  return status.ok() ? take_memory(bytes, host_memory, place) : status;
}

Status PretendRuntime::free_host(void* place) { return free(place); }

Status PretendRuntime::register_host(void*, std::size_t bytes) {
  const Lock lock(mutex_);
  const Status status = called("register_host");
  if (!status.ok()) return status;
  if (static_cast<Bytes>(bytes) > host_memory) return {2, "cudaErrorMemoryAllocation"};
  host_memory -= static_cast<Bytes>(bytes);
  ++owned_;
  if (lock_rate > 0) now_ += std::llround(static_cast<double>(bytes) / lock_rate);
  now_ += std::exchange(context_takes, 0);
  return {};
}

Status PretendRuntime::unregister_host(void*) {
  const Lock lock(mutex_);
  --owned_;
  return called("unregister_host");
}

Status PretendRuntime::copy_to_device(void* to, const void* host, std::size_t bytes,
                                      Stream stream) {
  const Lock lock(mutex_);
  const Status status = called("copy_in");
  if (!status.ok()) return status;
  std::memcpy(to, host, bytes);
  auto& before = static_cast<PretendStream*>(stream.handle)->tasks;
  while (copies_block && real_time_ && !before.empty() && !aborted()) {
    advance();
    loaderscope::sleep_until(monotonic_now() + 100 * kMicrosecond);
  }
  launch_work(stream, "copy", static_cast<Nanos>(static_cast<double>(bytes) / copy_rate), to, host);
  return {};
}

Status PretendRuntime::copy_to_host(void* host, const void* from, std::size_t bytes,
                                    Stream stream) {
  static_cast<void>(called("copy_out"));
  return copy_to_device(host, from, bytes, stream);
}

Status PretendRuntime::copy_on_device(void* to, const void* from, std::size_t bytes,
                                      Stream stream) {
  const Lock lock(mutex_);
  const Status status = called("copy_on_device");
  if (!status.ok()) return status;
  const double moved = 2 * static_cast<double>(bytes);
  launch_work(stream, "device copy", static_cast<Nanos>(moved / memory_rate), to, from);
  return {};
}

// --- kernels ---

void PretendRuntime::launch_work(Stream stream, const std::string& what, Nanos duration,
                                 const void* place, const void* from) {
  Task task;
  task.duration = duration;
  task.noted.what = what;
  task.noted.place = place;
  task.noted.from = from;
  submit(stream, std::move(task));
}

Status PretendRuntime::spin(const Spin& spin, Stream stream) {
  const Lock lock(mutex_);
  const Status status = called("spin");
  if (!status.ok()) return status;
  abort_ = spin.abort;
  auto* pretend_stream = static_cast<PretendStream*>(stream.handle);
  if (pretend_stream->capturing) {
    pretend_stream->captured.push_back(spin);
  } else {
    launch_work(stream, "spin", (spin.variable ? *spin.variable : spin.duration) + kernel_cost);
  }
  return {};
}

Status PretendRuntime::gate(const Gate& gate, Stream stream) {
  const Lock lock(mutex_);
  const Status status = called("gate");
  if (!status.ok()) return status;
  Task task;
  task.kind = Kind::gate;
  task.gate = gate;
  submit(stream, std::move(task));
  return {};
}

Status PretendRuntime::normalise(const Normalisation& job, Stream stream) {
  const Lock lock(mutex_);
  for (std::int64_t i = 0; i < job.values(); ++i) job.floats[i] = normalised(job, i);
  launch_work(stream, "normalise", job.values(), job.floats);
  return called("normalise");
}

Status PretendRuntime::augment(const AugmentJob& job, Stream stream) {
  const Lock lock(mutex_);
  const Status status = called("augment");
  if (!status.ok()) return status;
  if (job.size > kMaxKernelSize) return {1, "cudaErrorInvalidValue"};  // too much shared memory
  Task task;
  task.duration = static_cast<Nanos>(static_cast<double>(job.values()) / augment_rate);
  task.noted.what = "augment";
  task.noted.place = job.out;
  if (makes_samples) task.action = [job] { augment_on_host(job); };
  submit(stream, std::move(task));
  return {};
}

void PretendRuntime::begin_products() {
  const Lock lock(mutex_);
  ++owned_;
}

void PretendRuntime::end_products() {
  const Lock lock(mutex_);
  --owned_;
}

Status PretendRuntime::gemm(const Gemm& gemm, Stream stream) {
  const Lock lock(mutex_);
  const double size = gemm.size;
  if (first_product_ == 0) first_product_ = clock();
  const bool is_slow = clock() - first_product_ < clock_ramp_end;
  const double rate = is_slow ? product_rate / 5 : product_rate;
  launch_work(stream, "gemm", static_cast<Nanos>(size * size * size / rate));
  return called("gemm");
}

Status PretendRuntime::begin_capture(Stream stream) {
  static_cast<PretendStream*>(stream.handle)->capturing = true;
  return called("begin_capture");
}

Status PretendRuntime::end_capture(Stream stream, Graph& graph) {
  const Lock lock(mutex_);
  auto* pretend_stream = static_cast<PretendStream*>(stream.handle);
  pretend_stream->capturing = false;
  graphs_.push_back(
      std::make_unique<std::vector<Spin>>(std::exchange(pretend_stream->captured, {})));
  graph.handle = graphs_.back().get();
  ++owned_;
  return called("end_capture");
}

Status PretendRuntime::launch_graph(Graph graph, Stream stream) {
  const Lock lock(mutex_);
  for (const Spin& spin : *static_cast<std::vector<Spin>*>(graph.handle))
    launch_work(stream, "spin", *spin.variable + kernel_cost);
  return called("launch_graph");
}

Status PretendRuntime::free_graph(Graph) {
  --owned_;
  return {};
}

}  // namespace loaderscope::cuda
