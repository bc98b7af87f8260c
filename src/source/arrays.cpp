#include "source/arrays.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "loaderscope/errors.h"
#include "source/named_files.h"

namespace loaderscope::source {

Windows parse_windows(const FormatParameters& words, std::int64_t length_otherwise) {
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
  const Array& array = find_array(sample);
  return fmt::format("{}[{}]", array.file.path, (sample - array.first_sample) * windows_.stride);
}

Extent ArraySource::extent(std::int64_t sample) const {
  const Array& array = find_array(sample);
  const Bytes row = (sample - array.first_sample) * windows_.stride;
  const ArrayLayout& layout = array.file.layout;
  return {&array - arrays_.data(), layout.begin + row * layout.row_bytes, window_bytes()};
}

std::unique_ptr<SampleReader> ArraySource::make_reader() const {
  std::unique_ptr<SampleReader> stored = ExtentSource::make_reader();
  if (!delivery_ || delivery_->as_stored()) return stored;
  return make_delivering_reader(std::move(stored), *delivery_, sample_bytes(), 0);
}

void ArraySource::get_path(std::int64_t object, std::string& path) const {
  path = arrays_[static_cast<std::size_t>(object)].file.path;
}

const ArraySource::Array& ArraySource::find_array(std::int64_t sample) const {
  const auto next =
      std::upper_bound(arrays_.begin(), arrays_.end(), sample,
                       [](std::int64_t i, const Array& array) { return i < array.first_sample; });
  return *(next - 1);
}

namespace {

constexpr std::array<NumberType, 4> kNumberTypes = {
    {{"u16", "<u2", 2}, {"u32", "<u4", 4}, {"i32", "<i4", 4}, {"i64", "<i8", 8}}};

using Widen = void (*)(std::span<const std::byte>, std::byte*);

template <class From, class To>
void widened(std::span<const std::byte> from, std::byte* to) {
  const std::size_t numbers = from.size() / sizeof(From);
  for (std::size_t i = 0; i < numbers; ++i) {
    From number;
    std::memcpy(&number, from.data() + i * sizeof(From), sizeof number);
    const To wide = static_cast<To>(number);
    std::memcpy(to + i * sizeof(To), &wide, sizeof wide);
  }
}

// Null: none of whole numbers, or not wider.
template <class To>
Widen widening_from(std::string_view type) {
  struct Way {
    std::string_view from;
    Widen widen;
    std::size_t bytes;
  };
  static constexpr std::array<Way, 6> kWays = {{{"|u1", widened<std::uint8_t, To>, 1},
                                                {"|i1", widened<std::int8_t, To>, 1},
                                                {"<u2", widened<std::uint16_t, To>, 2},
                                                {"<i2", widened<std::int16_t, To>, 2},
                                                {"<u4", widened<std::uint32_t, To>, 4},
                                                {"<i4", widened<std::int32_t, To>, 4}}};
  for (const Way& way : kWays) {
    if (way.from == type && way.bytes < sizeof(To)) return way.widen;
  }
  return nullptr;
}

Widen widening(std::string_view from, std::string_view to) {
  if (to == "<u2") return widening_from<std::uint16_t>(from);
  if (to == "<u4") return widening_from<std::uint32_t>(from);
  if (to == "<i4") return widening_from<std::int32_t>(from);
  return widening_from<std::int64_t>(from);
}

class DeliveringReader final : public SampleReader {
 public:
  DeliveringReader(std::unique_ptr<SampleReader> stored, const Delivery& delivery,
                   Bytes sample_bytes, std::int64_t filling)
      : stored_(std::move(stored)),
        delivery_(delivery),
        sample_bytes_(static_cast<std::size_t>(sample_bytes)),
        filling_(filling) {}

  std::span<const std::byte> read(std::int64_t sample) override {
    delivered_.resize(sample_bytes_);
    return read_to(sample, delivered_.data());
  }
  std::span<const std::byte> read_to(std::int64_t sample, std::byte* place) override {
    const std::span<const std::byte> stored = stored_->read(sample);
    stored_bytes_ = stored_->stored_bytes().value_or(std::ssize(stored));
    const auto written = static_cast<std::size_t>(delivery_.delivered_bytes(std::ssize(stored)));
    delivery_.write(stored, place);
    delivery_.fill({place + written, sample_bytes_ - written}, filling_);
    return {place, sample_bytes_};
  }
  void expect(std::span<const std::int64_t> samples) override { stored_->expect(samples); }
  int readahead_limit() const override { return stored_->readahead_limit(); }
  void set_listener(SubstageListener& stages) override { stored_->set_listener(stages); }
  std::optional<Bytes> stored_bytes() const override { return stored_bytes_; }

 private:
  std::unique_ptr<SampleReader> stored_;
  const Delivery& delivery_;
  std::size_t sample_bytes_;
  std::int64_t filling_;
  std::vector<std::byte> delivered_;
  Bytes stored_bytes_ = 0;
};

// Returns the largest value of a type of whole numbers.
std::uint64_t largest_value(std::string_view type) {
  const int bits = 8 * (type[2] - '0') - (type[1] == 'i' ? 1 : 0);
  return std::numeric_limits<std::uint64_t>::max() >> (64 - bits);
}

}  // namespace

const NumberType& number_type(std::string_view name, std::string_view given) {
  for (const NumberType& type : kNumberTypes) {
    if (type.word == given) return type;
  }
  throw UsageError(
      fmt::format("?{}={}: expected u16, u32, i32 or i64", name, shown_text(std::string(given))),
      fmt::format("give ?{}=u32", name));
}

Delivery::Delivery(std::string_view from, std::string_view to)
    : type_(from), from_bytes_(from[2] - '0'), to_bytes_(from_bytes_) {
  if (to.empty()) return;
  const NumberType& wanted = number_type("deliver", to);
  if (wanted.type == from) return;
  widen_ = widening(from, wanted.type);
  if (widen_ == nullptr)
    throw UsageError(
        fmt::format("?deliver={}: what is stored as {} does not become that", to, from),
        "give a wider whole number, or leave deliver out");
  type_ = wanted.type;
  to_bytes_ = wanted.bytes;
}

void Delivery::check_number(std::string_view name, std::int64_t value) const {
  const bool is_whole = type_[1] == 'u' || type_[1] == 'i';
  if (!is_whole || value < 0 || static_cast<std::uint64_t>(value) > largest_value(type_))
    throw UsageError(
        fmt::format("?{}={}: is no number of type {}, which is delivered", name, value, type_),
        "give a number of this type");
}

void Delivery::write(std::span<const std::byte> stored, std::byte* place) const {
  if (widen_ == nullptr) {
    std::copy(stored.begin(), stored.end(), place);
  } else {
    widen_(stored, place);
  }
}

// Both are little-endian.
void Delivery::fill(std::span<std::byte> place, std::int64_t value) const {
  const auto bytes = static_cast<std::size_t>(to_bytes_);
  for (std::size_t at = 0; at + bytes <= place.size(); at += bytes)
    std::memcpy(place.data() + at, &value, bytes);
}

std::unique_ptr<SampleReader> make_delivering_reader(std::unique_ptr<SampleReader> stored,
                                                     const Delivery& delivery, Bytes sample_bytes,
                                                     std::int64_t filling) {
  return std::make_unique<DeliveringReader>(std::move(stored), delivery, sample_bytes, filling);
}

}  // namespace loaderscope::source
