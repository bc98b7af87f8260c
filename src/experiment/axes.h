// The settings that an experiment varies, and which cases they make.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/experiment.h"

namespace loaderscope {

// The values of "0,1,2"; where there is a '|', those that it parts.
std::vector<std::string> split_values(std::string_view list);

// `place` names it in messages: "--vary workers=0,1". Throws UsageError for an unknown key, an
// empty list, an unreadable value, and a value that occurs twice.
Axis make_axis(std::string_view key, const std::vector<std::string>& values,
               const std::string& place);
// "workers=0,1,2"; a '|' separates values that contain commas.
Axis parse_axis(std::string_view text);
// Appends to `axes`. Throws UsageError if a key occurs twice.
Axes parse_axes(const std::vector<std::string>& texts, Axes axes = {});

// Every combination. What has no meaning in a combination (a prefetch factor without workers) is
// left out of it, so that there may be fewer than the product.
std::vector<Changes> grid(const Axes& axes, const RunConfig& base);
// The base case, then each value of each axis on top of it.
std::vector<Changes> one_at_a_time(const Axes& axes, const RunConfig& base);

}  // namespace loaderscope
