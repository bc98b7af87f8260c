#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/image_formats.h"
#include "loaderscope/decode.h"
#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

using namespace std::string_view_literals;

std::string_view as_text(std::span<const std::byte> stored, std::size_t longest) {
  return {reinterpret_cast<const char*>(stored.data()), std::min(stored.size(), longest)};
}

// Formats that are common in folders of images, and that no decoder here reads.
struct UnsupportedFormat {
  std::size_t offset;
  std::string_view magic;
  std::string_view name;
};
constexpr std::array kStrangers = {
    UnsupportedFormat{0, "GIF8"sv, "a GIF image"},
    UnsupportedFormat{0, "BM"sv, "a BMP image"},
    UnsupportedFormat{0, "II*\0"sv, "a TIFF image"},
    UnsupportedFormat{0, "MM\0*"sv, "a TIFF image"},
    UnsupportedFormat{4, "ftypavi"sv, "an AVIF image"},
    UnsupportedFormat{4, "ftyphei"sv, "a HEIC image"},
    UnsupportedFormat{4, "ftypmif1"sv, "a HEIF image"},
    UnsupportedFormat{4, "ftyp"sv, "an MP4 file"},
    UnsupportedFormat{0, "\0\0\0\x0CjP  "sv, "a JPEG 2000 image"},
    UnsupportedFormat{0, "\xFF\x4F\xFF\x51"sv, "a JPEG 2000 image"},
    UnsupportedFormat{0, "\xFF\x0A"sv, "a JPEG XL image"},
    UnsupportedFormat{0, "\0\0\0\x0CJXL "sv, "a JPEG XL image"},
    UnsupportedFormat{0, "8BPS"sv, "a Photoshop image"},
    UnsupportedFormat{0, "\x93NUMPY"sv, "a NumPy array"},
    UnsupportedFormat{0, "%PDF"sv, "a PDF file"},
    UnsupportedFormat{0, "PK\x03\x04"sv, "a ZIP archive"},
    UnsupportedFormat{0, "\x1F\x8B"sv, "a gzip file"},
    UnsupportedFormat{0, "\x28\xB5\x2F\xFD"sv, "a Zstandard file"},
    UnsupportedFormat{0, "version https://git-lfs"sv, "a Git LFS pointer instead of the file"},
};

std::string_view name_of_stranger(std::string_view begin) {
  for (const UnsupportedFormat& stranger : kStrangers) {
    if (begin.size() < stranger.offset) continue;
    if (begin.substr(stranger.offset).starts_with(stranger.magic)) return stranger.name;
  }
  return {};
}

// A page that a server sent instead of the image, or a text.
std::string_view name_of_text(std::string_view begin) {
  const auto first = begin.find_first_not_of(" \t\r\n");
  if (first == begin.npos) return {};
  std::string word(begin.substr(first, 14));
  for (char& letter : word) {
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  if (word.starts_with("<!doctype html") || word.starts_with("<html")) return "an HTML page";
  if (word.starts_with("<svg")) return "an SVG image";
  if (word.starts_with("<?xml")) return "an XML file";
  if (word.starts_with("{")) return "a JSON text";
  const auto printable = [](char c) {
    return (c >= ' ' && c <= '~') || c == '\n' || c == '\r' || c == '\t';
  };
  if (begin.size() >= 8 && std::all_of(begin.begin(), begin.end(), printable)) return "a text";
  return {};
}

std::string hex_bytes(std::string_view begin) {
  std::string text;
  for (const char c : begin.substr(0, 8)) {
    std::array<char, 4> hex{};
    std::snprintf(hex.data(), hex.size(), " %02X",
                  static_cast<unsigned>(static_cast<unsigned char>(c)));
    text += hex.data();
  }
  return text;
}

// Returns the error for bytes that no row recognises. It names the format that they resemble.
SampleError not_an_image(std::span<const std::byte> stored) {
  using Kind = SampleError::Kind;
  if (stored.empty()) return {Kind::truncated, "it is empty"};
  const std::string_view begin = as_text(stored, 64);
  const auto formats = image_formats();
  if (std::any_of(formats.begin(), formats.end(),
                  [&](const ImageFormat& format) { return format.is_cut_magic(stored); })) {
    return {Kind::truncated,
            "it ends within its first " + std::to_string(longest_image_magic()) + " bytes"};
  }
  if (begin.find_first_not_of('\0') == begin.npos) {
    return {Kind::damaged, "it begins with zeros only, as after a copy that was cut off"};
  }
  std::string_view name = name_of_stranger(begin);
  if (name.empty()) name = name_of_text(begin);
  if (!name.empty()) {
    return {Kind::unsupported, "it is " + std::string(name) + ", which no decoder here reads"};
  }
  return {Kind::unsupported, "it is of no known image format: it begins with" + hex_bytes(begin)};
}

class AnyDecoder final : public Decoder {
 public:
  explicit AnyDecoder(const DecodeOptions& options)
      : options_(options), decoders_(decoder_table().size()) {}

  ImageHeader open(std::span<const std::byte> stored) override {
    current_ = &decoder_for(stored);
    return current_->open(stored);
  }

  Pixels decode(const Region& region) override { return current_->decode(region); }

 private:
  Decoder& decoder_for(std::span<const std::byte> stored) {
    const std::span<const DecoderRow> table = decoder_table();
    for (std::size_t i = 0; i < table.size(); ++i) {
      if (!table[i].recognises(stored)) continue;
      if (!decoders_[i]) decoders_[i] = make(table[i]);
      return *decoders_[i];
    }
    throw not_an_image(stored);
  }

  std::unique_ptr<Decoder> make(const DecoderRow& row) const {
    auto reason = row.row.reason_not_available();
    if (!reason) return row.make(options_);
    if (reason->ends_with('.')) reason->pop_back();  // the reason becomes part of a longer sentence
    throw SampleError(
        SampleError::Kind::unsupported,
        "it is of the format " + std::string(row.row.name) + ", and this program was " + *reason);
  }

  DecodeOptions options_;
  // same order as decoder_table(); made at the first use
  std::vector<std::unique_ptr<Decoder>> decoders_;
  Decoder* current_ = nullptr;
};

}  // namespace

std::unique_ptr<Decoder> make_any_decoder(const DecodeOptions& options) {
  return std::make_unique<AnyDecoder>(options);
}

}  // namespace loaderscope
