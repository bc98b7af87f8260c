// Place of a value on an axis, and the labels of the axis.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace loaderscope::page {

enum class Unit : std::uint8_t { number, seconds, share, bytes };

std::string spelled(Unit unit, double value);  // "2.5 ms", "12 %", "1,200"

// The unit of all labels of an axis: an axis with two units is hard to read.
struct AxisUnit {
  double size = 1;
  std::string name;  // "ms"; "" for numbers

  std::string spelled(double value) const;  // "2.5 ms"
};

struct Scale {
  std::string label;
  double least = 0, most = 1;
  Unit unit = Unit::number;
  bool logarithmic = false;  // requires values above 0
  bool whole = false;        // values are counts: no label is between two of them

  double at(double value) const;  // from 0 to 1, within the scale
  AxisUnit axis_unit() const;
};

// Makes a scale from `least` to at least `most`. Accepts `most` = `least`.
Scale scale_of(std::string label, Unit unit, double least, double most);
Scale with_room(Scale scale);                                     // adds room at both ends for dots
Scale count_scale(std::string label, double least, double most);  // labels are whole numbers
Scale logarithmic_scale_of(std::string label, Unit unit, double least, double most);

struct Tick {
  double at = 0;  // place on the axis, 0 to 1
  std::string text;
};
std::vector<Tick> ticks_of(const Scale& scale, int about);

}  // namespace loaderscope::page
