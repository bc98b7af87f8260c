#include "device/cuda/device_objects.h"

#include <utility>

#include "device/cuda/errors.h"

namespace loaderscope::cuda {

DeviceObjects::DeviceObjects(Runtime& runtime, std::string place)
    : runtime_(runtime), place_(std::move(place)) {}

DeviceObjects::~DeviceObjects() {
  for (auto free = frees_.rbegin(); free != frees_.rend(); ++free) (*free)();
}

void DeviceObjects::check(std::string_view what, const Status& status) const {
  if (!status.ok()) cuda::check(place_ + ": " + std::string(what), status);
}

Stream DeviceObjects::stream() {
  Stream stream;
  check("a stream", runtime_.make_stream(stream));
  frees_.push_back([this, stream] { runtime_.free_stream(stream); });
  return stream;
}

Event DeviceObjects::event() {
  Event event;
  check("an event", runtime_.make_event(event));
  frees_.push_back([this, event] { runtime_.free_event(event); });
  return event;
}

void* DeviceObjects::memory(std::size_t bytes, std::string_view what) {
  void* place = nullptr;
  check(what, runtime_.allocate(bytes, place));
  frees_.push_back([this, place] { runtime_.free(place); });
  return place;
}

void* DeviceObjects::host_memory(std::size_t bytes, std::string_view what) {
  void* place = nullptr;
  check(what, runtime_.allocate_host(bytes, HostKind::plain, place));
  frees_.push_back([this, place] { runtime_.free_host(place); });
  return place;
}

void DeviceObjects::products() {
  runtime_.begin_products();
  frees_.push_back([this] { runtime_.end_products(); });
}

void DeviceObjects::keep(Graph graph) {
  frees_.push_back([this, graph] { runtime_.free_graph(graph); });
}

}  // namespace loaderscope::cuda
