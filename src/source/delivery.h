// Conversion of stored numbers for a batch: to wider types, and with padding for short samples.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "loaderscope/source.h"

namespace loaderscope::source {

struct NumberType {
  std::string_view word, type;  // name in --data; NumPy's name
  Bytes bytes;
};
// Returns the type of the parameter `name`. Throws UsageError.
const NumberType& number_type(std::string_view name, std::string_view given);

// Conversion of numbers from their stored type.
class Delivery {
 public:
  // `from` is a NumPy type, `to` a type of --data; "": unchanged. Throws UsageError unless both are
  // whole numbers and `to` is at least as wide.
  Delivery(std::string_view from, std::string_view to);

  std::string_view type() const { return type_; }  // NumPy's name
  Bytes number_bytes() const { return to_bytes_; }
  Bytes bytes_of(Bytes stored) const { return stored / from_bytes_ * to_bytes_; }
  bool as_stored() const { return widen_ == nullptr; }
  // Throws UsageError if no delivered number can be `value`.
  void check_number(std::string_view name, std::int64_t value) const;
  void write(std::span<const std::byte> stored, std::byte* place) const;
  void fill(std::span<std::byte> place, std::int64_t value) const;  // fills with delivered numbers

 private:
  std::string_view type_;
  Bytes from_bytes_, to_bytes_;
  void (*widen_)(std::span<const std::byte>, std::byte*) = nullptr;
};

// Reader of samples of `sample_bytes` when delivered. Shorter samples are padded with `filling`.
// `delivery` outlives it.
std::unique_ptr<SampleReader> make_delivering_reader(std::unique_ptr<SampleReader> stored,
                                                     const Delivery& delivery, Bytes sample_bytes,
                                                     std::int64_t filling);

}  // namespace loaderscope::source
