// Outlines that a scene is painted with.
#pragma once

#include <algorithm>
#include <cmath>
#include <tuple>

#include "dataset/random.h"

namespace loaderscope::dataset {

// An ellipse or a rectangle of any direction around (0, 0), row by row.
class Shape {
 public:
  struct Span {
    double begin, end;
  };

  Shape(double radius, Random& random) : rectangle_(random.chance(0.35)) {
    const double stretch = 1 + 1.5 * random.uniform() * random.uniform();
    a_ = radius * stretch;
    b_ = radius / stretch;
    std::tie(cos_, sin_) = random.direction();
    const double aa = 1 / (a_ * a_), bb = 1 / (b_ * b_);
    xx_ = cos_ * cos_ * aa + sin_ * sin_ * bb;
    xy_ = cos_ * sin_ * (aa - bb);
    yy_ = sin_ * sin_ * aa + cos_ * cos_ * bb;
  }

  double half_height() const {
    if (rectangle_) return std::abs(sin_) * a_ + std::abs(cos_) * b_;
    return std::sqrt(xx_ / (xx_ * yy_ - xy_ * xy_));
  }

  Span row(double y) const {
    if (rectangle_) {
      const Span along = strip(cos_, sin_ * y, a_), across = strip(-sin_, cos_ * y, b_);
      return {std::max(along.begin, across.begin), std::min(along.end, across.end)};
    }
    const double inside = (xy_ * xy_ - xx_ * yy_) * y * y + xx_;
    if (inside <= 0) return {0, -1};
    const double half = std::sqrt(inside) / xx_, middle = -xy_ * y / xx_;
    return {middle - half, middle + half};
  }

 private:
  // Returns the range with |slope x + shift| <= half_width.
  static Span strip(double slope, double shift, double half_width) {
    if (std::abs(slope) < 1e-6) {
      return std::abs(shift) <= half_width ? Span{-1e6, 1e6} : Span{0, -1};
    }
    const double one = (-half_width - shift) / slope, other = (half_width - shift) / slope;
    return {std::min(one, other), std::max(one, other)};
  }

  bool rectangle_;
  double a_ = 0, b_ = 0, cos_ = 1, sin_ = 0;
  double xx_ = 0, xy_ = 0, yy_ = 0;
};

}  // namespace loaderscope::dataset
