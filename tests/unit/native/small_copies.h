// Images as they are kept decoded, as files: a run that reads them makes the expected samples.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <span>
#include <string>

#include "loaderscope/augment.h"
#include "loaderscope/decode.h"
#include "unit/decode/made_png.h"
#include "unit/native/photos.h"
#include "unit/source/temp_folder.h"

namespace loaderscope::native {

// Copies of the images as files of the size that is kept, in the same order.
inline void put_small_copies(const Photos& from, int count, int side,
                             const source::TempFolder& to) {
  AugmentOptions options;
  options.operations = {fmt::format("resize-centre-crop:{}", side)};
  options.size = side;
  options.transfer = Transfer::u8;
  options.layout = Layout::nhwc;
  const std::unique_ptr<Augmenter> resizer = make_augmenter(options);
  const std::unique_ptr<Decoder> decoder = make_any_decoder({});
  for (int i = 0; i < count; ++i) {
    const std::string stored = dataset::file_content(from.image(i));
    const auto header = decoder->open(std::as_bytes(std::span(stored)));
    const AugmentRecipe recipe = resizer->choose(0, i, header);
    made::Image image{side, side, 3, {}};
    image.data.resize(image.stride() * static_cast<std::size_t>(side));
    resizer->apply(decoder->decode(recipe.region), recipe,
                   reinterpret_cast<std::byte*>(image.data.data()));
    const made::ByteVector png = made::PngWriter(image, {}).make().stored;
    to.write(fmt::format("{}.png", 100 + i),
             {reinterpret_cast<const char*>(png.data()), png.size()});
  }
}

}  // namespace loaderscope::native
