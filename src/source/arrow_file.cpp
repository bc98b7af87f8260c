#include "source/arrow_file.h"

#include <algorithm>
#include <cstring>

#include "loaderscope/errors.h"
#include "source/arrow_messages.h"
#include "source/arrow_values.h"

namespace loaderscope::source {
namespace {

constexpr std::string_view kArrowMagic = "ARROW1";
constexpr Bytes kMagicInFront = 8;  // padded
constexpr std::size_t kArrowTail = sizeof(std::uint32_t) + kArrowMagic.size();
constexpr Bytes kMaxHead = Bytes{256} << 20;         // limit of a message's head, and of the footer
constexpr std::uint32_t kContinuation = 0xffffffff;  // marker before a message's length

std::uint32_t u32_at(std::span<const std::byte> bytes, std::size_t at) {
  std::uint32_t number = 0;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

std::string_view text_view(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct FoundMessage {
  ArrowMessage about;
  Bytes end_of_head = 0;

  Extent body() const { return {0, end_of_head, about.body}; }
};

// Returns nothing at the stream's end. Messages of old files begin with their length, without a
// marker.
std::optional<FoundMessage> message_at(StoredObject& file, Bytes begin) {
  constexpr Bytes kNumber = sizeof(std::uint32_t);
  if (file.size() - begin < kNumber) return std::nullopt;
  const auto front = arrow_bytes_at(file, begin, std::min(2 * kNumber, file.size() - begin));
  const bool has_marker = u32_at(front, 0) == kContinuation;
  if (has_marker && std::ssize(front) < 2 * kNumber) return std::nullopt;
  const Bytes length = u32_at(front, has_marker ? kNumber : 0);
  if (length == 0) return std::nullopt;
  if (length > kMaxHead) throw ValueError("is no Arrow file, or is damaged", "copy it again");
  begin += has_marker ? 2 * kNumber : kNumber;
  FoundMessage found{parse_arrow_message(arrow_bytes_at(file, begin, length)), begin + length};
  if (found.about.body < 0 || found.about.body > file.size() - found.end_of_head)
    throw ValueError("is cut off: a message should end after it", "copy it again");
  return found;
}

std::optional<ArrowFooter> read_footer(StoredObject& file) {
  const Bytes size = file.size();
  const auto front = arrow_bytes_at(file, 0, std::min<Bytes>(size, kArrowMagic.size()));
  if (text_view(front) != kArrowMagic) return std::nullopt;
  const auto cut = [] {
    return ValueError("is cut off: it does not end with ARROW1", "copy it again");
  };
  const Bytes tail = static_cast<Bytes>(kArrowTail);
  if (size < kMagicInFront + tail) throw cut();
  const auto end = arrow_bytes_at(file, size - tail, tail);
  if (text_view(std::span(end).subspan(sizeof(std::uint32_t))) != kArrowMagic) throw cut();
  const Bytes length = u32_at(end, 0);
  if (length > kMaxHead || length > size - tail - kMagicInFront)
    throw ValueError("is damaged: its footer should begin in front of it", "copy it again");
  return parse_arrow_footer(arrow_bytes_at(file, size - tail - length, length));
}

class LayoutReading {
 public:
  LayoutReading(StoredObject& file, ChooseColumn choose, std::string_view wanted, Bytes largest)
      : file_(file), choose_(choose), wanted_(wanted), largest_(largest) {}

  ArrowLayout read() {
    if (const auto footer = read_footer(file_)) {
      take_columns(footer->columns);
      for (const ArrowBlock& block : footer->dictionaries) add_block(block.begin, true);
      for (const ArrowBlock& block : footer->batches) add_block(block.begin, false);
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
      throw ValueError("is no Arrow file: it begins with no ARROW1 and no columns",
                       "check the path");
  }

  void take_columns(const std::vector<ArrowField>& fields) {
    fields_ = fields;
    const std::vector<ArrowColumn> columns = arrow_columns(fields_);
    leaf_ = choose_({columns.begin(), columns.end()}, wanted_);
    layout_.column = columns[leaf_];
    leaf_field_ = field_of_leaf(fields_, leaf_);
    if (leaf_field_.dictionary) dictionary_.emplace(leaf_field_, largest_);
  }

  void add_block(Bytes begin, bool is_dictionary) {
    const auto message = begin < 0 ? std::nullopt : message_at(file_, begin);
    const bool is_there = message && (is_dictionary ? message->about.dictionary.has_value()
                                                    : message->about.batch.has_value());
    if (!is_there)
      throw ValueError("is damaged: its footer names a record batch where there is none");
    add(*message);
  }

  void add(const FoundMessage& message) {
    if (const auto& more = message.about.dictionary) {
      if (dictionary_ && more->id == leaf_field_.dictionary->id)
        dictionary_->add(file_, message.body(), *more);
      return;
    }
    if (!message.about.batch || message.about.batch->rows == 0) return;
    const ArrowBatch& batch = *message.about.batch;
    const LeafPlace place = place_in_batch(fields_, batch, leaf_);
    ArrowBatchReading reading(file_, batch, message.body(), largest_);
    layout_.batches.push_back(dictionary_ ? dictionary_->dictionary_values(reading, place)
                                          : reading.values(place, layout_.column.width));
  }

  StoredObject& file_;
  ChooseColumn choose_;
  std::string_view wanted_;
  Bytes largest_;
  std::vector<ArrowField> fields_;
  std::size_t leaf_ = 0;
  ArrowField leaf_field_;
  std::optional<ArrowDictionary> dictionary_;  // dictionary of the column, if it has one
  ArrowLayout layout_;
};

}  // namespace

ArrowLayout read_arrow_layout(StoredObject& file, ChooseColumn choose, std::string_view wanted,
                              Bytes largest) {
  return LayoutReading(file, choose, wanted, largest).read();
}

}  // namespace loaderscope::source
