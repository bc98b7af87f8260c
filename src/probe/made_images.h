// JPEG images with the content of photographs, as `data make` makes them.
#pragma once

#include <cstddef>
#include <vector>

namespace loaderscope::probe {

using StoredImage = std::vector<std::byte>;

// Makes `count` images from plain to busy. Throws RunError if JPEG cannot be made here.
std::vector<StoredImage> make_images(int count, int width, int height);

// Makes eight images of the size that `data make` chooses.
std::vector<StoredImage> make_default_images();

double mean_bytes(const std::vector<StoredImage>& images);

}  // namespace loaderscope::probe
