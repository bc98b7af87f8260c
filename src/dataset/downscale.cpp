#include "dataset/downscale.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace loaderscope::dataset {
namespace {

// Old pixels that a new one covers: those from `first`, with the covered part of each.
struct Cover {
  int first = 0;
  std::vector<float> parts;
};

std::vector<Cover> covers(int from, int to) {
  std::vector<Cover> all(static_cast<std::size_t>(to));
  const double step = static_cast<double>(from) / to;
  for (int i = 0; i < to; ++i) {
    const double begin = i * step, end = std::min<double>(from, (i + 1) * step);
    Cover& cover = all[static_cast<std::size_t>(i)];
    cover.first = static_cast<int>(begin);
    for (int at = cover.first; at < end && at < from; ++at) {
      const double part = std::min<double>(at + 1, end) - std::max<double>(at, begin);
      cover.parts.push_back(static_cast<float>(part / (end - begin)));
    }
  }
  return all;
}

void copy(const Pixels& pixels, RgbImage& to) {
  to.rgb.resize(to.stride() * static_cast<std::size_t>(to.height));
  for (int y = 0; y < to.height; ++y)
    std::copy_n(pixels.data + static_cast<std::size_t>(y) * pixels.stride, to.stride(), to.row(y));
}

// The sum of whole rows, weighed: one row of the new height, in the old width.
void add_rows(const Pixels& pixels, const Cover& cover, std::vector<float>& sum) {
  std::fill(sum.begin(), sum.end(), 0.0f);
  const std::uint8_t* row = pixels.data + static_cast<std::size_t>(cover.first) * pixels.stride;
  for (const float part : cover.parts) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part * static_cast<float>(row[i]);
    row += pixels.stride;
  }
}

void add_columns(const std::vector<float>& sum, const std::vector<Cover>& columns,
                 std::uint8_t* out) {
  for (const Cover& column : columns) {
    float pixel[3] = {};
    const float* at = sum.data() + static_cast<std::size_t>(column.first) * 3;
    for (const float part : column.parts) {
      for (int c = 0; c < 3; ++c) pixel[c] += part * at[c];
      at += 3;
    }
    for (const float value : pixel) *out++ = static_cast<std::uint8_t>(std::lround(value));
  }
}

int shrunk_side(int side, double factor) {
  return std::max(1, static_cast<int>(std::lround(side * factor)));
}

}  // namespace

void shrink(const Pixels& pixels, int max_side, RgbImage& to) {
  const int width = pixels.region.width, height = pixels.region.height;
  const int longer = std::max(width, height);
  const double factor =
      max_side > 0 && max_side < longer ? static_cast<double>(max_side) / longer : 1;
  to.width = shrunk_side(width, factor);
  to.height = shrunk_side(height, factor);
  if (factor == 1) return copy(pixels, to);
  to.rgb.resize(to.stride() * static_cast<std::size_t>(to.height));
  const std::vector<Cover> rows = covers(height, to.height), columns = covers(width, to.width);
  std::vector<float> sum(static_cast<std::size_t>(width) * 3);
  for (int y = 0; y < to.height; ++y) {
    add_rows(pixels, rows[static_cast<std::size_t>(y)], sum);
    add_columns(sum, columns, to.row(y));
  }
}

}  // namespace loaderscope::dataset
