// Numbers that lie row by row in files, as samples: windows of rows.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/source.h"
#include "source/access.h"

namespace loaderscope::source {

// Conversion of stored numbers for a batch: to wider types, and with padding for short samples.
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
  Bytes delivered_bytes(Bytes stored) const { return stored / from_bytes_ * to_bytes_; }
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

struct ArrayLayout {
  std::string type;   // "<f4"
  std::string shape;  // shape of one row: "(3, 224, 224)"
  Bytes rows = 0;     // along the first axis
  Bytes row_bytes = 0;
  Bytes begin = 0;       // offset of the data in the file
  bool is_flat = false;  // one axis: a row is a number
};

struct ArrayFile {
  std::string path;
  ArrayLayout layout;
  std::uint64_t stamp = 0;  // see Objects
};

// Windows from the parameters of --data.
struct Windows {
  std::int64_t length = 1, stride = 1;  // rows
  std::string deliver;                  // "": numbers as they are stored
};
Windows parse_windows(const FormatParameters& words, std::int64_t length_otherwise);

// Throws RunError if the data has fewer bytes than `layout` requires.
void check_length(const ArrayFile& array, Bytes file_bytes);

// Consecutive arrays of the same type and shape. No window spans two of them.
class ArraySource : public ExtentSource {
 public:
  // Throws RunError if the arrays differ, or if no array holds a window. Throws UsageError if the
  // numbers cannot be delivered as asked.
  ArraySource(const SourceOptions& options, const std::vector<ArrayFile>& files, Windows windows);
  using ExtentSource::add_note;

  std::int64_t size() const override { return samples_; }
  Bytes sample_bytes() const override { return delivered(window_bytes()); }
  std::unique_ptr<SampleReader> make_reader() const override;
  std::string layout() const override;
  std::string describe(std::int64_t sample) const override;  // "a.npy[32]": the first row is 32

  std::int64_t objects() const override { return std::ssize(arrays_); }
  Extent extent(std::int64_t sample) const override;
  void get_path(std::int64_t object, std::string& path) const override;
  std::vector<std::string> roots() const override { return roots_; }
  std::uint64_t version_stamp(std::int64_t object) const override {
    return arrays_[static_cast<std::size_t>(object)].file.stamp;
  }

 private:
  struct Array {
    ArrayFile file;
    std::int64_t first_sample = 0;
  };
  void add(const ArrayFile& file);
  const Array& find_array(std::int64_t sample) const;
  Bytes window_bytes() const { return windows_.length * arrays_.front().file.layout.row_bytes; }
  Bytes delivered(Bytes stored) const {
    return delivery_ ? delivery_->delivered_bytes(stored) : stored;
  }

  Windows windows_;
  std::optional<Delivery> delivery_;
  std::vector<std::string> roots_;
  std::vector<Array> arrays_;
  std::int64_t samples_ = 0;
};

}  // namespace loaderscope::source
