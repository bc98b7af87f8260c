#include "source/arrow_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "loaderscope/errors.h"
#include "source/arrow_columns.h"
#include "source/arrow_messages.h"
#include "source/page_codec.h"

namespace loaderscope::source {
namespace {

constexpr std::string_view kArrowMagic = "ARROW1";
constexpr Bytes kMagicInFront = 8;  // padded
constexpr std::size_t kArrowTail = sizeof(std::uint32_t) + kArrowMagic.size();
constexpr Bytes kLargestHead = Bytes{256} << 20;                 // of a message, or of the footer
constexpr std::uint32_t kGoesOn = 0xffffffff;                    // in front of a message's length
constexpr std::int64_t kMostPackedRows = std::int64_t{1} << 24;  // of a record batch

std::vector<std::byte> bytes_at(StoredObject& file, Bytes begin, Bytes length) {
  if (begin < 0 || length < 0 || length > file.size() - begin)
    throw ValueError("is cut off, or damaged: what it holds should end behind it; copy it again");
  std::vector<std::byte> bytes(static_cast<std::size_t>(length));
  if (file.read(begin, bytes) < bytes.size())
    throw ValueError("is shorter than it was; it must not change while it is read");
  return bytes;
}

std::uint32_t u32_at(std::span<const std::byte> bytes, std::size_t at) {
  std::uint32_t number = 0;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

std::string_view text_in(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct FoundMessage {
  ArrowMessage about;
  Bytes end_of_head = 0;
};

// Nothing at the stream's end. Messages of old files have their length alone in front.
std::optional<FoundMessage> message_at(StoredObject& file, Bytes begin) {
  constexpr Bytes kNumber = sizeof(std::uint32_t);
  if (file.size() - begin < kNumber) return std::nullopt;
  const auto front = bytes_at(file, begin, std::min(2 * kNumber, file.size() - begin));
  const bool goes_on = u32_at(front, 0) == kGoesOn;
  if (goes_on && std::ssize(front) < 2 * kNumber) return std::nullopt;
  const Bytes length = u32_at(front, goes_on ? kNumber : 0);
  if (length == 0) return std::nullopt;
  if (length > kLargestHead) throw ValueError("is no Arrow file, or is damaged; copy it again");
  begin += goes_on ? 2 * kNumber : kNumber;
  FoundMessage found{parse_arrow_message(bytes_at(file, begin, length)), begin + length};
  if (found.about.body < 0 || found.about.body > file.size() - found.end_of_head)
    throw ValueError("is cut off: a message should end behind it; copy it again");
  return found;
}

std::optional<ArrowFooter> footer_of(StoredObject& file) {
  const Bytes size = file.size();
  const auto front = bytes_at(file, 0, std::min<Bytes>(size, kArrowMagic.size()));
  if (text_in(front) != kArrowMagic) return std::nullopt;
  const auto cut = [] {
    return ValueError("is cut off: it does not end with ARROW1; copy it again");
  };
  const Bytes tail = static_cast<Bytes>(kArrowTail);
  if (size < kMagicInFront + tail) throw cut();
  const auto end = bytes_at(file, size - tail, tail);
  if (text_in(std::span(end).subspan(sizeof(std::uint32_t))) != kArrowMagic) throw cut();
  const Bytes length = u32_at(end, 0);
  if (length > kLargestHead || length > size - tail - kMagicInFront)
    throw ValueError("is damaged: its footer should begin in front of it; copy it again");
  return parse_arrow_footer(bytes_at(file, size - tail - length, length));
}

// Reads of one record batch what says where the values lie.
class BatchReading {
 public:
  BatchReading(StoredObject& file, const ArrowBatch& batch, Bytes body, Bytes body_bytes,
               Bytes largest)
      : file_(file), batch_(batch), body_(body), body_bytes_(body_bytes), largest_(largest) {
    if (batch.rows < 0) throw ValueError("is damaged: a record batch has less than no rows");
    if (!batch.codec && batch.rows > file.size()) fail_as_short();
    if (batch.codec && batch.rows > kMostPackedRows)
      throw ValueError(
          fmt::format("has a record batch of {} rows that is packed, more than the {} "
                      "that are unpacked at once; write smaller ones",
                      batch.rows, kMostPackedRows));
  }

  ArrowValues values(const LeafPlace& place, const ArrowColumn& column) {
    ArrowValues values;
    values.rows = batch_.rows;
    const ArrowBuffer& stored = checked(place.values);
    values.begin = body_ + stored.begin;
    values.length = stored.length;
    values.codec = batch_.codec;
    Bytes room = stored.length;
    if (batch_.codec && stored.length > 0) {
      room = ArrowUnpacker::unpacked_bytes(
          bytes_at(file_, values.begin, std::min<Bytes>(stored.length, kHead)));
      if (room < 0) room = stored.length - kHead;
      values.unpacked = room;
    }
    if (column.width > 0) {
      if (values.rows > room / static_cast<Bytes>(column.width)) fail_as_short();
    } else {
      values.ends = offsets(place, room);
    }
    values.is_there = validity(place);
    return values;
  }

 private:
  static constexpr Bytes kHead = 8;  // of a packed buffer: how many bytes it holds

  [[noreturn]] static void fail_as_short() {
    throw ValueError("is damaged: a record batch has fewer values than rows");
  }

  const ArrowBuffer& checked(std::size_t number) const {
    const ArrowBuffer& buffer = batch_.buffers[number];
    if (buffer.begin < 0 || buffer.length < 0 || buffer.begin > body_bytes_ ||
        buffer.length > body_bytes_ - buffer.begin)
      throw ValueError("is damaged: a column's values lie outside of their record batch");
    return buffer;
  }

  std::vector<std::byte> content(std::size_t number, Bytes wanted) {
    const ArrowBuffer& buffer = checked(number);
    if (!batch_.codec) {
      if (buffer.length < wanted) fail_as_short();
      return bytes_at(file_, body_ + buffer.begin, wanted);
    }
    const auto stored = bytes_at(file_, body_ + buffer.begin, buffer.length);
    const Bytes size = ArrowUnpacker::unpacked_bytes(stored);
    if (size > largest_) throw ValueError("has a record batch that is too large to be unpacked");
    std::vector<std::byte> unpacked(static_cast<std::size_t>(std::max<Bytes>(size, 0)));
    ArrowUnpacker unpacker(*batch_.codec);
    const auto bytes = unpacker.unpack(stored, unpacked);
    if (std::ssize(bytes) < wanted) fail_as_short();
    return {bytes.begin(), bytes.begin() + wanted};
  }

  template <class Offset>
  std::vector<std::int64_t> offsets_as(std::size_t number) {
    const auto bytes = content(number, (batch_.rows + 1) * Bytes{sizeof(Offset)});
    std::vector<std::int64_t> offsets(static_cast<std::size_t>(batch_.rows) + 1);
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      Offset offset = 0;
      std::memcpy(&offset, bytes.data() + i * sizeof offset, sizeof offset);
      offsets[i] = offset;
    }
    return offsets;
  }

  std::vector<std::int64_t> offsets(const LeafPlace& place, Bytes room) {
    auto offsets = place.has_large_offsets ? offsets_as<std::int64_t>(place.offsets)
                                           : offsets_as<std::int32_t>(place.offsets);
    if (offsets.front() < 0 || offsets.back() > room ||
        !std::is_sorted(offsets.begin(), offsets.end()))
      throw ValueError("is damaged: its values do not lie one behind another");
    return offsets;
  }

  // A bit a row, of the column and of all that it lies in.
  std::vector<bool> validity(const LeafPlace& place) {
    std::vector<bool> is_there;
    for (std::size_t level = 0; level < place.nodes.size(); ++level) {
      if (batch_.nulls_of_nodes[place.nodes[level]] == 0) continue;
      if (batch_.rows_of_nodes[place.nodes[level]] != batch_.rows) fail_as_short();
      if (checked(place.validities[level]).length == 0) continue;
      const auto bits = content(place.validities[level], (batch_.rows + 7) / 8);
      is_there.resize(static_cast<std::size_t>(batch_.rows), true);
      for (std::size_t i = 0; i < is_there.size(); ++i) {
        if ((static_cast<unsigned>(bits[i / 8]) >> i % 8 & 1) == 0) is_there[i] = false;
      }
    }
    return is_there;
  }

  StoredObject& file_;
  const ArrowBatch& batch_;
  Bytes body_, body_bytes_, largest_;
};

class LayoutReading {
 public:
  LayoutReading(StoredObject& file, ChooseColumn choose, std::string_view wanted, Bytes largest)
      : file_(file), choose_(choose), wanted_(wanted), largest_(largest) {}

  ArrowLayout read() {
    if (const auto footer = footer_of(file_)) {
      take_columns(footer->columns);
      for (const ArrowBlock& block : footer->batches) add_batch(block.begin);
    } else {
      read_stream();
    }
    return std::move(layout_);
  }

 private:
  void read_stream() {
    Bytes at = 0;
    bool has_columns = false;
    while (const auto message = message_at(file_, at)) {
      if (message->about.columns && !has_columns) {
        take_columns(*message->about.columns);
        has_columns = true;
      } else if (!has_columns) {
        break;
      }
      add(*message);
      at = message->end_of_head + message->about.body;
    }
    if (!has_columns)
      throw ValueError("is no Arrow file: it begins with no ARROW1 and no columns; check the path");
  }

  void take_columns(const std::vector<ArrowField>& fields) {
    fields_ = fields;
    const std::vector<ArrowColumn> columns = arrow_columns(fields_);
    leaf_ = choose_({columns.begin(), columns.end()}, wanted_);
    layout_.column = columns[leaf_];
  }

  void add_batch(Bytes begin) {
    const auto message = begin < 0 ? std::nullopt : message_at(file_, begin);
    if (!message || !message->about.batch)
      throw ValueError("is damaged: its footer names a record batch where there is none");
    add(*message);
  }

  void add(const FoundMessage& message) {
    if (!message.about.batch || message.about.batch->rows == 0) return;
    const ArrowBatch& batch = *message.about.batch;
    BatchReading reading(file_, batch, message.end_of_head, message.about.body, largest_);
    layout_.batches.push_back(
        reading.values(place_in_batch(fields_, batch, leaf_), layout_.column));
  }

  StoredObject& file_;
  ChooseColumn choose_;
  std::string_view wanted_;
  Bytes largest_;
  std::vector<ArrowField> fields_;
  std::size_t leaf_ = 0;
  ArrowLayout layout_;
};

}  // namespace

ArrowLayout read_arrow_layout(StoredObject& file, ChooseColumn choose, std::string_view wanted,
                              Bytes largest) {
  return LayoutReading(file, choose, wanted, largest).read();
}

ArrowUnpacker::ArrowUnpacker(std::int8_t codec) : unpacker_(arrow_codec(codec).make()) {}
ArrowUnpacker::~ArrowUnpacker() = default;

Bytes ArrowUnpacker::unpacked_bytes(std::span<const std::byte> stored) {
  std::int64_t size = 0;
  if (stored.empty()) return 0;
  if (stored.size() < sizeof size) throw ValueError("is damaged: packed values have no length");
  std::memcpy(&size, stored.data(), sizeof size);
  return size;
}

std::span<const std::byte> ArrowUnpacker::unpack(std::span<const std::byte> stored,
                                                 std::span<std::byte> to) {
  constexpr Bytes kNotPacked = -1;
  const Bytes size = unpacked_bytes(stored);
  if (stored.empty()) return {};
  const auto values = stored.subspan(sizeof size);
  if (size == kNotPacked) return values;
  if (size != std::ssize(to)) throw ValueError("is damaged: packed values have another length");
  unpacker_->unpack(values, to);
  return to;
}

}  // namespace loaderscope::source
