// Parts of a TFRecord file.
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <protozero/pbf_reader.hpp>

#include "loaderscope/errors.h"
#include "source/table_columns.h"
#include "source/tfrecord.h"

namespace loaderscope::source {
namespace {

using Kind = SampleError::Kind;
using protozero::data_view;
using protozero::pbf_reader;

template <class Number>
Number read_number(std::span<const std::byte> bytes) {
  Number value{};
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

std::string_view view_text(data_view view) { return {view.data(), view.size()}; }
std::span<const std::byte> view_bytes(data_view view) {
  return std::as_bytes(std::span(view.data(), view.size()));
}

// The first of a feature's values, where these are bytes.
std::optional<data_view> first_bytes(data_view feature) {
  pbf_reader reader(feature);
  while (reader.next(1, protozero::pbf_wire_type::length_delimited)) {
    pbf_reader list(reader.get_view());
    if (list.next(1, protozero::pbf_wire_type::length_delimited)) return list.get_view();
  }
  return std::nullopt;
}

// Returns the first number of a feature of whole numbers.
std::optional<std::int64_t> first_number(data_view feature) {
  pbf_reader reader(feature);
  while (reader.next(3, protozero::pbf_wire_type::length_delimited)) {
    pbf_reader list(reader.get_view());
    while (list.next(1)) {
      if (list.wire_type() == protozero::pbf_wire_type::varint) return list.get_int64();
      if (list.wire_type() != protozero::pbf_wire_type::length_delimited) {
        list.skip();
        continue;
      }
      const auto numbers = list.get_packed_int64();
      if (!numbers.empty()) return *numbers.begin();
    }
  }
  return std::nullopt;
}

// Calls see(name, feature) for each feature of the map.
template <class See>
void for_each_feature(std::span<const std::byte> example, const See& see) {
  constexpr auto kMessage = protozero::pbf_wire_type::length_delimited;
  pbf_reader reader(data_view(reinterpret_cast<const char*>(example.data()), example.size()));
  while (reader.next(1, kMessage)) {
    pbf_reader features(reader.get_view());
    while (features.next(1, kMessage)) {
      pbf_reader entry(features.get_view());
      data_view name, feature;
      while (entry.next()) {
        if (entry.wire_type() != kMessage) {
          entry.skip();
        } else if (entry.tag() == 1) {
          name = entry.get_view();
        } else if (entry.tag() == 2) {
          feature = entry.get_view();
        } else {
          entry.skip();
        }
      }
      see(view_text(name), feature);
    }
  }
}

[[noreturn]] void fail_in_example() {
  throw SampleError(Kind::damaged, "its record is no tf.train.Example",
                    "give value=raw to take records as they are");
}

}  // namespace

std::optional<StoredRecord> RecordWalk::next() {
  std::array<std::byte, kRecordHead> head{};
  const std::size_t got = file_.read(at_, head);
  if (got == 0) return std::nullopt;
  StoredRecord record{at_, kRecordHead + kRecordTail};
  at_ += record.size;
  if (got < head.size()) return record;
  const std::span<const std::byte> length = std::span(head).first(8);
  if (masked_crc32c(length) != read_number<std::uint32_t>(std::span(head).last(4))) {
    if (record.begin == 0) throw ValueError("is no TFRecord file");
    throw ValueError(
        fmt::format("is damaged at byte {}: the checksum of a record's length is wrong",
                    record.begin),
        "write it again");
  }
  const auto bytes = read_number<std::uint64_t>(length);
  if (bytes > std::uint64_t{1} << 48)
    throw ValueError(fmt::format("is damaged: a record of {} bytes", bytes));
  record.size += static_cast<Bytes>(bytes);
  at_ += static_cast<Bytes>(bytes);
  return record;
}

std::span<const std::byte> checked_record(std::span<const std::byte> stored) {
  constexpr auto kHead = static_cast<std::size_t>(kRecordHead);
  constexpr auto kTail = static_cast<std::size_t>(kRecordTail);
  if (stored.size() <= kHead + kTail) throw SampleError(Kind::truncated, "is empty");
  const auto record = stored.subspan(kHead, stored.size() - kHead - kTail);
  if (masked_crc32c(record) != read_number<std::uint32_t>(stored.last(kTail)))
    throw SampleError(Kind::damaged, "its checksum is wrong");
  return record;
}

std::span<const std::byte> read_feature(std::span<const std::byte> example, std::string_view name) {
  std::optional<data_view> found;
  try {
    for_each_feature(example, [&](std::string_view each, data_view feature) {
      if (each == name) found = first_bytes(feature);
    });
  } catch (const protozero::exception&) {
    fail_in_example();
  }
  if (!found) {
    throw SampleError(Kind::unsupported,
                      fmt::format("has no bytes in a feature {}", shown_text(name)),
                      "choose one with ?feature=NAME");
  }
  if (found->size() == 0) throw SampleError(Kind::truncated, "is empty");
  return view_bytes(*found);
}

std::string image_feature(std::span<const std::byte> example) {
  constexpr std::string_view kUsual = "image/encoded";
  std::string_view longest;
  std::size_t most = 0;
  bool is_usual = false;
  try {
    for_each_feature(example, [&](std::string_view name, data_view feature) {
      const std::optional<data_view> bytes = first_bytes(feature);
      if (bytes && name == kUsual) is_usual = true;
      if (!bytes || bytes->size() <= most) return;
      most = bytes->size();
      longest = name;
    });
  } catch (const protozero::exception&) {
    fail_in_example();
  }
  return std::string(is_usual ? kUsual : longest);
}

std::string class_feature(std::span<const std::byte> example) {
  std::string_view best;
  try {
    for_each_feature(example, [&](std::string_view name, data_view feature) {
      const int rank = rank_of_class_name(name);
      if (rank < 0 || (!first_number(feature) && !first_bytes(feature))) return;
      if (best.empty() || rank < rank_of_class_name(best)) best = name;
    });
  } catch (const protozero::exception&) {
    fail_in_example();
  }
  return std::string(best);
}

std::string read_class(std::span<const std::byte> example, std::string_view name) {
  std::optional<std::string> found;
  try {
    for_each_feature(example, [&](std::string_view each, data_view feature) {
      if (each != name) return;
      if (const auto number = first_number(feature))
        found = std::to_string(*number);
      else if (const auto bytes = first_bytes(feature))
        found = std::string(view_text(*bytes));
    });
  } catch (const protozero::exception&) {
    fail_in_example();
  }
  if (found && !found->empty()) return *found;
  throw SampleError(Kind::unsupported,
                    "has no number and no text in a feature " + shown_text(name));
}

}  // namespace loaderscope::source
