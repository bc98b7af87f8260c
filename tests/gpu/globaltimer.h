// The GPU's own clock, read as often as a thread can.
#pragma once

#include <cstdint>

struct CUstream_st;

namespace loaderscope::cuda {

// `count` readings of %globaltimer in ns, into memory of the device. Returns the runtime's code.
int launch_readings(std::int64_t* readings, std::int32_t count, CUstream_st* stream);

}  // namespace loaderscope::cuda
