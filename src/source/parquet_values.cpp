// Places of values in unpacked pages.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "loaderscope/errors.h"
#include "source/parquet_pages.h"

namespace loaderscope::source {
namespace {

// Numbers stored as differences to the number before, in Parquet's packing.
struct DeltaNumbers {
  std::vector<std::int64_t> numbers;
  std::size_t bytes = 0;  // stored bytes
};

[[noreturn]] void fail_at_deltas() { throw ValueError("its page ends before its numbers do"); }

class DeltaReader {
 public:
  explicit DeltaReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  DeltaNumbers read(std::size_t count) {
    const std::uint64_t block = next_number(), parts = next_number(), total = next_number();
    std::uint64_t value = next_signed();
    if (total != count)
      throw ValueError(fmt::format("its page has {} numbers where {} should be", total, count));
    // The format requires these limits. The upper ones keep the skipped bytes small.
    if (parts == 0 || parts > 512 || block == 0 || block > (1 << 20) || block % parts != 0 ||
        block / parts % 8 != 0)
      throw ValueError("its page has blocks of numbers that cannot be");
    DeltaNumbers read;
    if (count > 0) read.numbers.push_back(static_cast<std::int64_t>(value));
    while (read.numbers.size() < count)
      read_block(block / parts, parts, count, value, read.numbers);
    read.bytes = at_;
    return read;
  }

 private:
  std::uint64_t next_number() {
    std::uint64_t number = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at_ == bytes_.size()) fail_at_deltas();
      const auto byte = static_cast<std::uint64_t>(bytes_[at_++]);
      number |= (byte & 0x7f) << shift;
      if (byte < 0x80) return number;
    }
    throw ValueError("its page has a number of more than 64 bits");
  }
  std::uint64_t next_signed() {
    const std::uint64_t number = next_number();
    return number >> 1 ^ (~(number & 1) + 1);
  }

  // Parts after the last number have no bytes. Sums wrap around, as in the writer.
  void read_block(std::uint64_t numbers_of_part, std::uint64_t parts, std::size_t count,
                  std::uint64_t& value, std::vector<std::int64_t>& to) {
    const std::uint64_t least = next_signed();
    if (parts > bytes_.size() - at_) fail_at_deltas();
    const auto widths = bytes_.subspan(at_, parts);
    at_ += parts;
    for (std::uint64_t part = 0; part < parts && to.size() < count; ++part) {
      const auto bits = static_cast<std::uint32_t>(widths[part]);
      if (bits > 64) throw ValueError(fmt::format("its page has numbers of {} bits", bits));
      const std::uint64_t size = numbers_of_part / 8 * bits;
      if (size > bytes_.size() - at_) fail_at_deltas();
      const auto packed = bytes_.subspan(at_, size);
      at_ += size;
      const std::size_t wanted = std::min<std::size_t>(numbers_of_part, count - to.size());
      for (std::size_t i = 0; i < wanted; ++i) {
        value += least + packed_number(packed, i * bits, bits);
        to.push_back(static_cast<std::int64_t>(value));
      }
    }
  }

  static std::uint64_t packed_number(std::span<const std::byte> packed, std::size_t bit,
                                     std::uint32_t bits) {
    std::uint64_t number = 0;
    for (std::uint32_t got = 0; got < bits;) {
      const auto byte = static_cast<std::uint64_t>(packed[(bit + got) / 8]) >> (bit + got) % 8;
      const auto taken =
          static_cast<std::uint32_t>(std::min<std::size_t>(8 - (bit + got) % 8, bits - got));
      number |= (byte & ((1U << taken) - 1)) << got;
      got += taken;
    }
    return number;
  }

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

// Reads `count` numbers. Throws ValueError.
DeltaNumbers delta_numbers(std::span<const std::byte> from, std::size_t count) {
  return DeltaReader(from).read(count);
}

[[noreturn]] void fail_as_cut() { throw ValueError("its page ends before its values do"); }

// Numbers of a few bits: runs of one number, and groups of eight side by side.
class RunReader {
 public:
  RunReader(std::span<const std::byte> bytes, std::uint32_t bits) : bytes_(bytes), bits_(bits) {
    if (bits > 32) throw ValueError(fmt::format("its page has numbers of {} bits", bits));
  }

  std::uint32_t next() {
    if (bits_ == 0) return 0;
    while (same_ == 0 && packed_ == 0) begin_run();
    if (same_ > 0) {
      --same_;
      return value_;
    }
    --packed_;
    return next_packed();
  }

 private:
  void begin_run() {
    std::uint64_t head = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (at_ == bytes_.size() || shift > 28) fail_as_cut();
      const auto byte = static_cast<std::uint64_t>(bytes_[at_++]);
      head |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    if ((head & 1) != 0) {
      packed_ = (head >> 1) * 8;
      bit_ = 0;
      return;
    }
    same_ = head >> 1;
    const std::size_t size = (bits_ + 7) / 8;
    if (size > bytes_.size() - at_) fail_as_cut();
    value_ = 0;
    std::memcpy(&value_, bytes_.data() + at_, size);
    at_ += size;
  }

  // Bytes after the last requested number may be missing.
  std::uint32_t next_packed() {
    std::uint32_t number = 0;
    for (std::uint32_t got = 0; got < bits_;) {
      if (at_ == bytes_.size()) fail_as_cut();
      const auto byte = static_cast<std::uint32_t>(bytes_[at_]) >> bit_;
      const std::uint32_t taken = std::min(8 - bit_, bits_ - got);
      number |= (byte & ((1U << taken) - 1)) << got;
      got += taken;
      bit_ += taken;
      if (bit_ < 8) break;
      bit_ = 0;
      ++at_;
    }
    return number;
  }

  std::span<const std::byte> bytes_;
  std::uint32_t bits_;
  std::size_t at_ = 0;
  std::uint64_t same_ = 0, packed_ = 0;  // remaining values of the run
  std::uint32_t value_ = 0;              // value of a run of equal values
  std::uint32_t bit_ = 0;                // bit in the byte at `at_`
};

}  // namespace

Present read_present(std::span<const std::byte> levels, std::uint32_t full_level,
                     std::size_t rows) {
  RunReader reader(levels, static_cast<std::uint32_t>(std::bit_width(full_level)));
  Present present(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    const std::uint32_t level = reader.next();
    if (level > full_level) throw ValueError("its page has a level that the column has not");
    present[i] = level == full_level;
  }
  return present;
}

std::vector<ValuePlace> stored_places(std::span<const std::byte> values, const Present& present,
                                      std::size_t width) {
  std::vector<ValuePlace> places(present.size());
  std::size_t at = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!present[i]) continue;
    auto size = static_cast<std::uint32_t>(width);
    if (width == 0) {
      if (values.size() - at < sizeof size) fail_as_cut();
      std::memcpy(&size, values.data() + at, sizeof size);
      at += sizeof size;
    }
    if (size > values.size() - at) fail_as_cut();
    places[i] = {static_cast<std::uint32_t>(at), size};
    at += size;
  }
  return places;
}

std::vector<ValuePlace> numbered_places(std::span<const std::byte> numbers, const Present& present,
                                        std::span<const ValuePlace> dictionary) {
  std::vector<ValuePlace> places(present.size());
  if (numbers.empty()) {
    for (const bool is_there : present) {
      if (is_there) fail_as_cut();
    }
    return places;
  }
  RunReader reader(numbers.subspan(1), static_cast<std::uint32_t>(numbers.front()));
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!present[i]) continue;
    const std::uint32_t number = reader.next();
    if (number >= dictionary.size())
      throw ValueError("its page has a number that its dictionary has not");
    places[i] = dictionary[number];
  }
  return places;
}

std::vector<ValuePlace> number_places(std::span<const std::byte> values, const Present& present,
                                      std::size_t width, std::vector<std::byte>& built) {
  const auto count = static_cast<std::size_t>(std::count(present.begin(), present.end(), true));
  const DeltaNumbers read = delta_numbers(values, count);
  built.resize(count * width);
  for (std::size_t i = 0; i < count; ++i)
    std::memcpy(built.data() + i * width, &read.numbers[i], width);
  return stored_places(built, present, width);
}

std::vector<ValuePlace> length_places(std::span<const std::byte> values, const Present& present) {
  const auto count = static_cast<std::size_t>(std::count(present.begin(), present.end(), true));
  const DeltaNumbers lengths = delta_numbers(values, count);
  std::vector<ValuePlace> places(present.size());
  std::size_t at = lengths.bytes, next = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!present[i]) continue;
    const std::int64_t length = lengths.numbers[next++];
    if (length < 0 || static_cast<std::uint64_t>(length) > values.size() - at) fail_as_cut();
    places[i] = {static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(length)};
    at += static_cast<std::size_t>(length);
  }
  return places;
}

std::vector<ValuePlace> prefix_places(std::span<const std::byte> values, const Present& present,
                                      Bytes most, std::vector<std::byte>& built) {
  const auto count = static_cast<std::size_t>(std::count(present.begin(), present.end(), true));
  const DeltaNumbers prefixes = delta_numbers(values, count);
  const auto rest = values.subspan(prefixes.bytes);
  std::vector<ValuePlace> places = length_places(rest, present);
  built.clear();
  std::size_t before = 0, next = 0;  // begin of the previous value
  for (ValuePlace& place : places) {
    if (place.begin == ValuePlace::kNull) continue;
    const std::int64_t prefix = prefixes.numbers[next++];
    if (prefix < 0 || static_cast<std::uint64_t>(prefix) > built.size() - before) fail_as_cut();
    const std::size_t begin = built.size(), size = static_cast<std::size_t>(prefix) + place.size;
    if (static_cast<Bytes>(begin + size) > std::min<Bytes>(most, ValuePlace::kNull))
      throw ValueError("its page has more bytes than a sample may have");
    built.resize(begin + size);
    std::copy_n(built.begin() + static_cast<std::ptrdiff_t>(before), prefix,
                built.begin() + static_cast<std::ptrdiff_t>(begin));
    std::copy_n(rest.begin() + place.begin, place.size, built.end() - place.size);
    before = begin;
    place = {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(size)};
  }
  return places;
}

}  // namespace loaderscope::source
