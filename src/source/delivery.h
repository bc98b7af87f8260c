// Stored numbers as a batch takes them: wider than they are stored, and samples that are too short
// filled up.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "loaderscope/source.h"

namespace loaderscope::source {

struct NumberType {
  std::string_view word, type;  // of --data; as NumPy writes it
  Bytes bytes;
};
// Of the word `name`. Throws UsageError.
const NumberType& number_type(std::string_view name, std::string_view given);

// How what is stored as `from` is delivered.
class Delivery {
 public:
  // `from` as NumPy writes it, `to` a word; "": as it is. Throws UsageError: no wider whole numbers
  // of whole numbers.
  Delivery(std::string_view from, std::string_view to);

  std::string_view type() const { return type_; }  // as NumPy writes it
  Bytes number_bytes() const { return to_bytes_; }
  Bytes bytes_of(Bytes stored) const { return stored / from_bytes_ * to_bytes_; }
  bool as_stored() const { return widen_ == nullptr; }
  // Throws UsageError where no number delivered can be `value`.
  void check_number(std::string_view name, std::int64_t value) const;
  void write(std::span<const std::byte> stored, std::byte* place) const;
  void fill(std::span<std::byte> place, std::int64_t value) const;  // with numbers delivered

 private:
  std::string_view type_;
  Bytes from_bytes_, to_bytes_;
  void (*widen_)(std::span<const std::byte>, std::byte*) = nullptr;
};

// Of samples that are `sample_bytes` when delivered; shorter ones are filled up with `filling`.
// `delivery` outlives it.
std::unique_ptr<SampleReader> make_delivering_reader(std::unique_ptr<SampleReader> stored,
                                                     const Delivery& delivery, Bytes sample_bytes,
                                                     std::int64_t filling);

}  // namespace loaderscope::source
