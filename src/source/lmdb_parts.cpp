// Keys and values of LMDB files.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <protozero/pbf_reader.hpp>

#include "base/image_formats.h"
#include "loaderscope/errors.h"
#include "source/lmdb.h"

namespace loaderscope::source {
namespace {

using Kind = SampleError::Kind;

struct Datum {
  std::int64_t channels = 0, height = 0, width = 0;
  std::span<const std::byte> data;
  bool is_coded = false, has_numbers = false;
  bool has_more = false;  // than a Datum has
  std::optional<std::int64_t> label;
};

Datum parsed_datum(std::span<const std::byte> bytes) {
  Datum datum;
  protozero::pbf_reader reader(
      protozero::data_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  while (reader.next()) {
    const bool is_number = reader.wire_type() == protozero::pbf_wire_type::varint;
    const bool is_text = reader.wire_type() == protozero::pbf_wire_type::length_delimited;
    if (is_number && reader.tag() <= 3) {
      std::int64_t& side = reader.tag() == 1   ? datum.channels
                           : reader.tag() == 2 ? datum.height
                                               : datum.width;
      side = reader.get_int32();
    } else if (is_number && reader.tag() == 5) {
      datum.label = reader.get_int32();
    } else if (is_text && reader.tag() == 4) {
      const auto data = reader.get_view();
      datum.data = std::as_bytes(std::span(data.data(), data.size()));
    } else if (is_number && reader.tag() == 7) {
      datum.is_coded = reader.get_uint64() != 0;  // get_bool() reads on where the message ends
    } else {
      datum.has_numbers = datum.has_numbers || reader.tag() == 6;
      datum.has_more = datum.has_more || reader.tag() != 6;
      reader.skip();
    }
  }
  return datum;
}

Datum checked_datum(std::span<const std::byte> bytes) {
  try {
    return parsed_datum(bytes);
  } catch (const protozero::exception&) {
    throw SampleError(Kind::damaged, "its value is no Datum",
                      "leave value=datum out to take it as it is");
  }
}

// Planes of blue, green and red become pixels.
void interleave(std::span<const std::byte> planes, std::vector<std::byte>& pixels) {
  const std::size_t plane = planes.size() / 3;
  pixels.resize(planes.size());
  for (std::size_t i = 0; i < plane; ++i) {
    pixels[3 * i] = planes[2 * plane + i];
    pixels[3 * i + 1] = planes[plane + i];
    pixels[3 * i + 2] = planes[i];
  }
}

}  // namespace

bool fits_key(std::string_view pattern, std::string_view key) {
  const auto begin = pattern.find('%'), end = pattern.find('d', begin);
  std::size_t width = 0;
  const std::string_view digits =
      end == pattern.npos ? "" : pattern.substr(begin + 1, end - begin - 1);
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), width);
  const bool is_width = digits.empty() || (error == std::errc() && stop == digits.end());
  if (end == pattern.npos || !is_width)
    throw ValueError("expected a pattern with a number, such as image-%09d");
  const std::string_view before = pattern.substr(0, begin), behind = pattern.substr(end + 1);
  if (!key.starts_with(before)) return false;
  key.remove_prefix(before.size());
  if (!key.ends_with(behind)) return false;
  key.remove_suffix(behind.size());
  return !key.empty() && key.size() >= width &&
         key.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_datum(std::span<const std::byte> value) {
  try {
    const Datum datum = parsed_datum(value);
    const bool has_sides = datum.channels > 0 && datum.height > 0 && datum.width > 0;
    return !datum.has_more && !datum.data.empty() && (has_sides || datum.is_coded);
  } catch (const protozero::exception&) {
    return false;
  }
}

std::string class_of_datum(std::span<const std::byte> bytes) {
  const auto label = checked_datum(bytes).label;
  if (!label) throw SampleError(Kind::unsupported, "its Datum has no label");
  return std::to_string(*label);
}

std::span<const std::byte> image_of_datum(std::span<const std::byte> bytes,
                                          std::vector<std::byte>& image) {
  const Datum datum = checked_datum(bytes);
  if (datum.data.empty())
    throw SampleError(datum.has_numbers ? Kind::unsupported : Kind::truncated,
                      datum.has_numbers ? "its Datum holds numbers, no bytes" : "is empty");
  if (datum.is_coded) return datum.data;
  const auto side = [](std::int64_t length) { return length > 0 && length < (1 << 24); };
  if (!side(datum.height) || !side(datum.width) || (datum.channels != 1 && datum.channels != 3) ||
      datum.channels * datum.height * datum.width != std::ssize(datum.data)) {
    throw SampleError(Kind::unsupported,
                      fmt::format("its Datum has {} bytes of {} x {} x {}", datum.data.size(),
                                  datum.channels, datum.height, datum.width),
                      "only images of 1 or 3 channels can be used");
  }
  thread_local std::vector<std::byte> pixels;
  if (datum.channels == 3) interleave(datum.data, pixels);
  put_raw_image(static_cast<std::uint32_t>(datum.width), static_cast<std::uint32_t>(datum.height),
                static_cast<std::size_t>(datum.channels),
                datum.channels == 3 ? std::span<const std::byte>(pixels) : datum.data, image);
  return image;
}

}  // namespace loaderscope::source
