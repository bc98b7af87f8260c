#include "source/parquet_deltas.h"

#include <fmt/format.h>

#include <algorithm>

#include "loaderscope/errors.h"

namespace loaderscope::source {
namespace {

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

}  // namespace

DeltaNumbers delta_numbers(std::span<const std::byte> from, std::size_t count) {
  return DeltaReader(from).read(count);
}

}  // namespace loaderscope::source
