// Pipelines drawn at random, and what must hold of every one of them. The model runs them in
// virtual time, so that what is asserted is exact.
//
// LOADERSCOPE_PROPERTY_FIRST and LOADERSCOPE_PROPERTY_COUNT choose which are drawn, for hours by
// hand.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "loaderscope/run_config.h"
#include "loaderscope/run_record.h"

namespace loaderscope::property {

// "workers=2 batch=8 cost=decode=lognormal:4ms:0.5:cpu ...": scenario lines, in one.
std::string drawn_settings(std::uint64_t seed);

RunConfig parse_drawn_settings(const std::string& settings);
RunRecord run(const RunConfig& config);

// Calls `look` with `count` seeds and their settings, or those that the environment asks for.
void for_each_drawn(int count, const std::function<void(const std::string& settings)>& look);

}  // namespace loaderscope::property
