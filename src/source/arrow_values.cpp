#include "source/arrow_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "loaderscope/errors.h"

namespace loaderscope::source {
namespace {

constexpr std::int64_t kMaxPackedRows = std::int64_t{1} << 24;  // limit of a record batch
constexpr Bytes kPackedHead = 8;  // head of a packed buffer: its unpacked size
constexpr Bytes kView = 16;       // a length, and the value or where it lies

[[noreturn]] void fail_as_fewer() {
  throw ValueError("is damaged: a record batch has fewer values than rows");
}

template <class Number>
Number arrow_number(std::span<const std::byte> bytes, std::size_t at) {
  Number number = 0;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

template <class Number>
std::vector<std::int64_t> arrow_numbers(std::span<const std::byte> bytes) {
  std::vector<std::int64_t> numbers(bytes.size() / sizeof(Number));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<std::int64_t>(arrow_number<Number>(bytes, i * sizeof(Number)));
  return numbers;
}

std::vector<std::int64_t> arrow_numbers(std::span<const std::byte> bytes, int bits,
                                        bool is_signed) {
  switch (bits) {
    case 8:
      return is_signed ? arrow_numbers<std::int8_t>(bytes) : arrow_numbers<std::uint8_t>(bytes);
    case 16:
      return is_signed ? arrow_numbers<std::int16_t>(bytes) : arrow_numbers<std::uint16_t>(bytes);
    case 32:
      return is_signed ? arrow_numbers<std::int32_t>(bytes) : arrow_numbers<std::uint32_t>(bytes);
    default:
      return arrow_numbers<std::int64_t>(bytes);
  }
}

}  // namespace

std::vector<std::byte> arrow_bytes_at(StoredObject& file, Bytes begin, Bytes length) {
  if (begin < 0 || length < 0 || length > file.size() - begin)
    throw ValueError("is cut off, or damaged: its contents should end after it", "copy it again");
  std::vector<std::byte> bytes(static_cast<std::size_t>(length));
  if (file.read(begin, bytes) < bytes.size())
    throw ValueError("is shorter than it was", "leave it unchanged while it is read");
  return bytes;
}

ArrowBatchReading::ArrowBatchReading(StoredObject& file, const ArrowBatch& batch,
                                     const Extent& body, Bytes largest)
    : file_(file), batch_(batch), body_(body.offset), body_bytes_(body.length), largest_(largest) {
  if (batch.rows < 0) throw ValueError("is damaged: a record batch has less than no rows");
  if (!batch.codec && batch.rows > file.size()) fail_as_fewer();
  if (batch.codec && batch.rows > kMaxPackedRows)
    throw ValueError(fmt::format("has a record batch of {} rows that is packed, more than the {} "
                                 "that are unpacked at once",
                                 batch.rows, kMaxPackedRows),
                     "write smaller ones");
}

ArrowValues ArrowBatchReading::values(const LeafPlace& place, std::size_t width) {
  ArrowValues values;
  values.rows = batch_.rows;
  values.codec = batch_.codec;
  values.is_there = validity(place);
  if (place.holds_views) {
    take_views(place, values);
  } else {
    take_stored(place, width, values);
  }
  return values;
}

std::vector<std::int64_t> ArrowBatchReading::numbers(const LeafPlace& place,
                                                     const ArrowField::Dictionary& as) {
  if (as.bits != 8 && as.bits != 16 && as.bits != 32 && as.bits != 64)
    throw ValueError("is damaged: its dictionary is asked by no whole numbers");
  auto numbers =
      arrow_numbers(content(place.values, batch_.rows * as.bits / 8), as.bits, as.is_signed);
  const std::vector<bool> is_there = validity(place);
  for (std::size_t i = 0; i < is_there.size(); ++i) {
    if (!is_there[i]) numbers[i] = -1;
  }
  return numbers;
}

const ArrowBuffer& ArrowBatchReading::checked(std::size_t number) const {
  const ArrowBuffer& buffer = batch_.buffers[number];
  if (buffer.begin < 0 || buffer.length < 0 || buffer.begin > body_bytes_ ||
      buffer.length > body_bytes_ - buffer.begin)
    throw ValueError("is damaged: a column's values lie outside of their record batch");
  return buffer;
}

std::vector<std::byte> ArrowBatchReading::content(std::size_t number, Bytes wanted) {
  const ArrowBuffer& buffer = checked(number);
  if (!batch_.codec) {
    if (buffer.length < wanted) fail_as_fewer();
    return arrow_bytes_at(file_, body_ + buffer.begin, wanted);
  }
  const auto stored = arrow_bytes_at(file_, body_ + buffer.begin, buffer.length);
  const Bytes size = ArrowUnpacker::unpacked_bytes(stored);
  if (size > largest_) throw ValueError("has a record batch that is too large to be unpacked");
  std::vector<std::byte> unpacked(static_cast<std::size_t>(std::max<Bytes>(size, 0)));
  ArrowUnpacker unpacker(*batch_.codec);
  const auto bytes = unpacker.unpack(stored, unpacked);
  if (std::ssize(bytes) < wanted) fail_as_fewer();
  return {bytes.begin(), bytes.begin() + wanted};
}

void ArrowBatchReading::take_stored(const LeafPlace& place, std::size_t width,
                                    ArrowValues& values) {
  const ArrowBuffer& stored = checked(place.values);
  values.begin = body_ + stored.begin;
  values.length = stored.length;
  Bytes room = stored.length;
  if (batch_.codec && stored.length > 0) {
    room = ArrowUnpacker::unpacked_bytes(
        arrow_bytes_at(file_, values.begin, std::min<Bytes>(stored.length, kPackedHead)));
    if (room < 0) room = stored.length - kPackedHead;
    values.unpacked = room;
  }
  if (width == 0) {
    values.ends = offsets(place, room);
  } else if (values.rows > room / static_cast<Bytes>(width)) {
    fail_as_fewer();
  }
}

void ArrowBatchReading::take_views(const LeafPlace& place, ArrowValues& values) {
  if (batch_.codec)
    throw ValueError("has views in its column that are packed, which are not read",
                     "write it without compression, or as binary");
  const Bytes begin = body_ + checked(place.offsets).begin;
  const auto views = content(place.offsets, batch_.rows * kView);
  values.begin = body_;
  values.length = body_bytes_;
  values.places.resize(static_cast<std::size_t>(batch_.rows));
  for (std::int64_t row = 0; row < batch_.rows; ++row) {
    if (values.is_null(row)) continue;
    const auto at = static_cast<std::size_t>(row);
    values.places[at] = place_of_view(place, std::span(views).subspan(at * kView, kView),
                                      begin - body_ + row * kView);
  }
}

// Returns the place in the batch's body. `at` is the place of the view.
ArrowPlace ArrowBatchReading::place_of_view(const LeafPlace& place, std::span<const std::byte> view,
                                            Bytes at) const {
  constexpr Bytes kLength = 4, kMaxInView = 12;
  const Bytes length = arrow_number<std::int32_t>(view, 0);
  if (length >= 0 && length <= kMaxInView) return {at + kLength, length};
  const auto number = static_cast<std::size_t>(arrow_number<std::uint32_t>(view, 8));
  const Bytes begin = arrow_number<std::int32_t>(view, 12);
  if (length < 0 || begin < 0 || number >= place.values - place.offsets)
    throw ValueError("is damaged: a view shows no value");
  const ArrowBuffer& buffer = checked(place.offsets + 1 + number);
  if (begin > buffer.length || length > buffer.length - begin)
    throw ValueError("is damaged: a view shows bytes after its values");
  return {buffer.begin + begin, length};
}

std::vector<std::int64_t> ArrowBatchReading::offsets(const LeafPlace& place, Bytes room) {
  const int bits = place.has_large_offsets ? 64 : 32;
  auto offsets = arrow_numbers(content(place.offsets, (batch_.rows + 1) * bits / 8), bits, true);
  if (offsets.front() < 0 || offsets.back() > room ||
      !std::is_sorted(offsets.begin(), offsets.end()))
    throw ValueError("is damaged: its values do not follow one another");
  return offsets;
}

// A bit a row, of the column and of all that it lies in.
std::vector<bool> ArrowBatchReading::validity(const LeafPlace& place) {
  std::vector<bool> is_there;
  for (std::size_t level = 0; level < place.nodes.size(); ++level) {
    if (batch_.nulls_of_nodes[place.nodes[level]] == 0) continue;
    if (batch_.rows_of_nodes[place.nodes[level]] != batch_.rows) fail_as_fewer();
    if (checked(place.validities[level]).length == 0) continue;
    const auto bits = content(place.validities[level], (batch_.rows + 7) / 8);
    is_there.resize(static_cast<std::size_t>(batch_.rows), true);
    for (std::size_t i = 0; i < is_there.size(); ++i) {
      if ((static_cast<unsigned>(bits[i / 8]) >> i % 8 & 1) == 0) is_there[i] = false;
    }
  }
  return is_there;
}

ArrowDictionary::ArrowDictionary(const ArrowField& field, Bytes largest)
    : as_(*field.dictionary), held_{field}, largest_(largest) {
  held_.front().dictionary.reset();
}

void ArrowDictionary::add(StoredObject& file, const Extent& body,
                          const ArrowDictionaryBatch& more) {
  if (!more.is_more) values_ = {};
  if (more.batch.rows == 0) return;
  ArrowBatchReading reading(file, more.batch, body, largest_);
  const ArrowValues added = reading.values(place_in_batch(held_, more.batch, 0), 0);
  if (values_.rows > 0 && (values_.codec || added.codec))
    throw ValueError("has a packed dictionary that continues, which is not read",
                     "write it without compression, or as a whole");
  const Bytes before = values_.rows > 0 ? values_.begin : added.begin;
  values_.codec = added.codec;
  values_.unpacked = added.unpacked;
  values_.length =
      std::max(values_.rows > 0 ? before + values_.length : 0, added.begin + added.length) -
      std::min(before, added.begin);
  values_.begin = std::min(before, added.begin);
  for (std::int64_t row = 0; row < added.rows; ++row) {
    ArrowPlace place = added.row_place(row, 0);
    if (!added.codec) place.begin += added.begin;
    values_.places.push_back(place);
    values_.is_there.push_back(!added.is_null(row));
  }
  values_.rows += added.rows;
}

ArrowValues ArrowDictionary::dictionary_values(ArrowBatchReading& reading,
                                               const LeafPlace& place) const {
  const std::vector<std::int64_t> numbers = reading.numbers(place, as_);
  ArrowValues values;
  values.rows = std::ssize(numbers);
  values.begin = values_.begin;
  values.length = values_.length;
  values.codec = values_.codec;
  values.unpacked = values_.unpacked;
  values.places.resize(numbers.size());
  values.is_there.resize(numbers.size(), false);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] == -1) continue;
    if (numbers[i] < 0 || numbers[i] >= values_.rows)
      throw ValueError("is damaged: a row names what its dictionary does not hold");
    const auto at = static_cast<std::size_t>(numbers[i]);
    values.is_there[i] = values_.is_there[at];
    values.places[i] = values_.places[at];
    if (!values_.codec) values.places[i].begin -= values_.begin;
  }
  return values;
}

}  // namespace loaderscope::source
