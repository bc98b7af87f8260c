// Where values lie in unpacked pages.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "loaderscope/errors.h"
#include "source/parquet_pages.h"

namespace loaderscope::source {
namespace {

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

  // Those behind the last one that is asked for may be missing.
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
  std::uint64_t same_ = 0, packed_ = 0;  // how many are left of the run
  std::uint32_t value_ = 0;              // of those that are the same
  std::uint32_t bit_ = 0;                // of the byte at `at_`
};

}  // namespace

Present present_of(std::span<const std::byte> levels, std::uint32_t full_level, std::size_t rows) {
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

}  // namespace loaderscope::source
