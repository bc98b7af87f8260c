#include "device/cuda/belongings.h"

#include <utility>

#include "device/cuda/errors.h"

namespace loaderscope::cuda {

Belongings::Belongings(Runtime& runtime, std::string place)
    : runtime_(runtime), place_(std::move(place)) {}

Belongings::~Belongings() {
  for (auto free = frees_.rbegin(); free != frees_.rend(); ++free) (*free)();
}

void Belongings::check(std::string_view what, const Status& status) const {
  if (!status.ok()) cuda::check(place_ + ": " + std::string(what), status);
}

Stream Belongings::stream() {
  Stream stream;
  check("a stream", runtime_.make_stream(stream));
  frees_.push_back([this, stream] { runtime_.free_stream(stream); });
  return stream;
}

Event Belongings::event() {
  Event event;
  check("an event", runtime_.make_event(event));
  frees_.push_back([this, event] { runtime_.free_event(event); });
  return event;
}

void* Belongings::memory(std::size_t bytes, std::string_view what) {
  void* place = nullptr;
  check(what, runtime_.allocate(bytes, place));
  frees_.push_back([this, place] { runtime_.free(place); });
  return place;
}

void* Belongings::host_memory(std::size_t bytes, std::string_view what) {
  void* place = nullptr;
  check(what, runtime_.allocate_host(bytes, HostKind::plain, place));
  frees_.push_back([this, place] { runtime_.free_host(place); });
  return place;
}

void Belongings::keep(Graph graph) {
  frees_.push_back([this, graph] { runtime_.free_graph(graph); });
}

}  // namespace loaderscope::cuda
