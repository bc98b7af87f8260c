// Runtime objects that belong to a device. They are freed together, in the reverse order.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "device/cuda/runtime.h"

namespace loaderscope::cuda {

class DeviceObjects {
 public:
  // `place` begins every error: "GPU 0". The runtime outlives this object; the thread that ends it
  // has chosen the device.
  DeviceObjects(Runtime& runtime, std::string place);
  ~DeviceObjects();
  DeviceObjects(const DeviceObjects&) = delete;
  DeviceObjects& operator=(const DeviceObjects&) = delete;

  const std::string& place() const { return place_; }
  void check(std::string_view what, const Status& status) const;

  Stream stream();
  Event event();
  void* memory(std::size_t bytes, std::string_view what);
  void* host_memory(std::size_t bytes, std::string_view what);  // page-locked
  void keep(Graph graph);
  void products();  // prepares matrix products on the chosen device

 private:
  Runtime& runtime_;
  std::string place_;
  std::vector<std::function<void()>> frees_;
};

}  // namespace loaderscope::cuda
