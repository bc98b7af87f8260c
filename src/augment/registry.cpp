#include <algorithm>

#include "augment/operation.h"
#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

using Maker = augment::Operation (*)(std::string_view parameters, int size);

struct Entry {
  OperationRow listed;
  Maker make;
};

const Entry kEntries[] = {
    {{{"random-resized-crop",
       "Crop a random part and resize it, as torchvision's RandomResizedCrop draws it. Default: "
       "0.08..1:0.75..1.3333333333333333."},
      "[AREA_MIN..AREA_MAX[:RATIO_MIN..RATIO_MAX]]"},
     augment::make_random_resized_crop},
    {{{"resize-centre-crop",
       "Resize the short side, then crop the centre, as torchvision's Resize and CenterCrop. "
       "Default: 8/7 of the size, 256 for 224."},
      "[SHORT_SIDE]"},
     augment::make_resize_centre_crop},
    {{{"flip", "Mirror left and right with a probability (default 0.5)."}, "[PROBABILITY]"},
     augment::make_flip},
    {{{"rotate",
       "Rotate about the centre by a random angle; D means -D..D. Bilinear, black outside. "
       "Default: 15."},
      "[DEGREES|MIN..MAX]"},
     augment::make_rotate},
    {{{"affine",
       "Rotate (default 15), move, zoom and shear at random, as torchvision's RandomAffine. A move "
       "is a share of the size. Parts not given do nothing. Bilinear, black outside."},
      "[DEGREES[:MOVE_X[:MOVE_Y[:SCALE_MIN..SCALE_MAX[:SHEAR_X[:SHEAR_Y]]]]]]"},
     augment::make_affine},
    {{{"colour-jitter",
       "Change brightness, contrast, saturation and hue at random, as torchvision's ColorJitter. "
       "Missing values change nothing. Default: 0.4:0.4:0.4:0.1."},
      "[BRIGHTNESS[:CONTRAST[:SATURATION[:HUE]]]]"},
     augment::make_colour_jitter},
    {{{"normalise",
       "Subtract a mean and divide by a deviation, both in 0..1. Give one value, or R:G:B. "
       "Default: ImageNet's."},
      "[MEAN:DEVIATION|MEAN:MEAN:MEAN:DEVIATION:DEVIATION:DEVIATION]"},
     augment::make_normalise},
};

}  // namespace

std::span<const OperationRow> operation_table() {
  static const std::vector<OperationRow> rows = [] {
    std::vector<OperationRow> listed;
    for (const Entry& entry : kEntries) listed.push_back(entry.listed);
    return listed;
  }();
  return rows;
}

namespace augment {

Operation make_operation(std::string_view text, int size) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const bool has_parameters = colon != std::string_view::npos;
  try {
    const OperationRow& row = find_row(name, operation_table());
    if (has_parameters && colon + 1 == text.size()) {
      throw ValueError("expected " + std::string(row.parameters) + " after the colon");
    }
    const auto entry =
        std::ranges::find(kEntries, name, [](const Entry& e) { return e.listed.row.name; });
    return entry->make(has_parameters ? text.substr(colon + 1) : std::string_view(), size);
  } catch (const ValueError& error) {
    throw add_place<ValueError>("operation '" + shown_text(text) + "': ", error);
  }
}

}  // namespace augment
}  // namespace loaderscope
