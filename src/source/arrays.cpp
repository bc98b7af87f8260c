#include "source/arrays.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "loaderscope/errors.h"
#include "source/named_files.h"

namespace loaderscope::source {

Windows windows_of(const FormatParameters& words, std::int64_t length_otherwise) {
  Windows windows;
  windows.length = count_parameter(words, "length", length_otherwise);
  windows.stride = count_parameter(words, "stride", windows.length);
  windows.deliver = text_parameter(words, "deliver");
  return windows;
}

void check_length(const ArrayFile& array, Bytes file_bytes) {
  Bytes data = 0;
  const ArrayLayout& layout = array.layout;
  if (__builtin_mul_overflow(layout.rows, layout.row_bytes, &data) ||
      data > file_bytes - layout.begin)
    throw RunError(fmt::format("{}: has {} bytes, fewer than the array that its header describes",
                               shown_text(array.path), file_bytes));
}

ArraySource::ArraySource(const SourceOptions& options, const std::vector<ArrayFile>& files,
                         Windows windows)
    : ExtentSource(options), windows_(std::move(windows)), roots_(options.paths) {
  for (const ArrayFile& file : files) add(file);
  if (!windows_.deliver.empty())
    delivery_.emplace(arrays_.front().file.layout.type, windows_.deliver);
  const std::string first = shown_text(arrays_.front().file.path);
  if (samples_ == 0) {
    throw RunError(
        fmt::format("{}: no sample of {} rows fits into the arrays", first, windows_.length),
        "give a smaller length");
  }
  Bytes bytes = 0;
  if (__builtin_mul_overflow(windows_.length, arrays_.front().file.layout.row_bytes, &bytes) ||
      delivered(bytes) > options.largest_sample) {
    throw RunError(fmt::format("{}: a sample of {} rows has {}, more than the {} that one may have",
                               first, windows_.length,
                               format_size(static_cast<double>(delivered(bytes))),
                               format_size(static_cast<double>(options.largest_sample))));
  }
}

void ArraySource::add(const ArrayFile& file) {
  const ArrayLayout& layout = file.layout;
  const std::string shown = shown_text(file.path);
  if (layout.row_bytes == 0) throw RunError(shown + ": has rows without a number");
  if (!arrays_.empty()) {
    const ArrayFile& first = arrays_.front().file;
    if (layout.type != first.layout.type || layout.shape != first.layout.shape)
      throw RunError(
          fmt::format("{}: has rows {} of {}, and {} has {} of {}", shown, layout.shape,
                      layout.type, shown_text(first.path), first.layout.shape, first.layout.type),
          "give arrays that are alike");
  }
  arrays_.push_back({file, samples_});
  if (layout.rows >= windows_.length)
    samples_ += (layout.rows - windows_.length) / windows_.stride + 1;
}

std::string ArraySource::layout() const {
  const ArrayLayout& row = arrays_.front().file.layout;
  const std::string type =
      delivery_ ? fmt::format("{}, stored as {}", delivery_->type(), row.type) : row.type;
  if (row.is_flat) return fmt::format("({},) of {}", windows_.length, type);
  if (windows_.length == 1) return fmt::format("{} of {}", row.shape, type);
  return fmt::format("{} x {} of {}", windows_.length, row.shape, type);
}

std::string ArraySource::describe(std::int64_t sample) const {
  const Array& array = array_of(sample);
  return fmt::format("{}[{}]", array.file.path, (sample - array.first_sample) * windows_.stride);
}

Extent ArraySource::extent(std::int64_t sample) const {
  const Array& array = array_of(sample);
  const Bytes row = (sample - array.first_sample) * windows_.stride;
  const ArrayLayout& layout = array.file.layout;
  return {&array - arrays_.data(), layout.begin + row * layout.row_bytes, window_bytes()};
}

std::unique_ptr<SampleReader> ArraySource::make_reader() const {
  std::unique_ptr<SampleReader> stored = ExtentSource::make_reader();
  if (!delivery_ || delivery_->as_stored()) return stored;
  return make_delivering_reader(std::move(stored), *delivery_, sample_bytes(), 0);
}

void ArraySource::path_of(std::int64_t object, std::string& path) const {
  path = arrays_[static_cast<std::size_t>(object)].file.path;
}

const ArraySource::Array& ArraySource::array_of(std::int64_t sample) const {
  const auto behind =
      std::upper_bound(arrays_.begin(), arrays_.end(), sample,
                       [](std::int64_t i, const Array& array) { return i < array.first_sample; });
  return *(behind - 1);
}

}  // namespace loaderscope::source
