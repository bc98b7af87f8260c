#include <algorithm>
#include <array>

#include "base/image_formats.h"
#include "built_with.h"
#include "dataset/options.h"

namespace loaderscope::dataset {
namespace {

constexpr std::array<FormatRow, 4> kTable = {{
    {{"jpeg", "Write JPEG, baseline or progressive.", reason_missing<built_with::kJpeg>},
     ImageKind::jpeg,
     true,
     if_built(built_with::kJpeg, encode_jpeg),
     if_built(built_with::kJpeg, add_restarts_to_jpeg)},
    {{"png", "Write lossless PNG.", reason_missing<built_with::kPng>},
     ImageKind::png,
     false,
     if_built(built_with::kPng, encode_png)},
    {{"webp", "Write lossy WebP.", reason_missing<built_with::kWebp>},
     ImageKind::webp,
     true,
     if_built(built_with::kWebp, encode_webp)},
    {{"raw", "A 16-byte header and the pixels: nothing to decode."},
     ImageKind::raw,
     false,
     encode_raw},
}};

}  // namespace

std::string_view FormatRow::suffix() const { return image_format(kind).suffixes.front(); }

std::span<const FormatRow> format_table() { return kTable; }

const FormatRow* encoder_of(ImageKind kind) {
  const auto found = std::find_if(kTable.begin(), kTable.end(),
                                  [&](const FormatRow& row) { return row.kind == kind; });
  return found == kTable.end() ? nullptr : &*found;
}

std::string_view suffix_of_image(std::span<const std::byte> stored) {
  const ImageKind kind = image_kind_of(stored);
  return kind == ImageKind::unknown ? "" : image_format(kind).suffixes.front();
}

}  // namespace loaderscope::dataset
