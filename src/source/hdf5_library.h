// What the files about HDF5 share of its library: what it gave, and why it failed.
#pragma once

#include <hdf5.h>

#include <string>
#include <string_view>
#include <utility>

#include "source/hdf5_file.h"

namespace loaderscope::source {

// What the library gave a number, which it takes back.
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

// The innermost of what the library says about the call that failed last, behind `doing`. Throws
// ValueError.
[[noreturn]] void fail_by_hdf5(std::string_view doing);

inline Hdf5Id held_or_fail(hid_t id, herr_t (*close)(hid_t), std::string_view doing) {
  if (id < 0) fail_by_hdf5(doing);
  return {id, close};
}

// Throws ValueError where the data set cannot be one of samples, or what is stored of it is damaged
// so that the library would read outside of it.
Hdf5Layout layout_of(hid_t dataset, std::string name);
// The same of chunks whose length is damaged: by the first two that are stored. The library goes
// through all of them for it.
void check_chunks(hid_t dataset, const Hdf5Layout& layout);

}  // namespace loaderscope::source
