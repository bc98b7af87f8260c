// Handles and errors of the HDF5 library, for the files about HDF5.
#pragma once

#include <hdf5.h>

#include <string>
#include <string_view>
#include <utility>

#include "source/hdf5.h"

namespace loaderscope::source {

// Owner of a handle of the library.
class Hdf5Id {
 public:
  Hdf5Id(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Hdf5Id(Hdf5Id&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Hdf5Id& operator=(Hdf5Id&&) = delete;
  ~Hdf5Id() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const { return id_; }  // NOLINT: reads like the number

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

// Throws ValueError with the library's innermost message about the last failed call, after `doing`.
[[noreturn]] void fail_by_hdf5(std::string_view doing);

inline Hdf5Id held_or_fail(hid_t id, herr_t (*close)(hid_t), std::string_view doing) {
  if (id < 0) fail_by_hdf5(doing);
  return {id, close};
}

// Throws ValueError if the data set cannot hold samples, or if damaged metadata would let the
// library read outside of it.
Hdf5Layout read_layout(hid_t dataset, std::string name);
// Throws ValueError if the lengths of the first two stored chunks are wrong. The library visits all
// chunks for this check.
void check_chunks(hid_t dataset, const Hdf5Layout& layout);

}  // namespace loaderscope::source
