// Memory that more workers take, and the number of workers for which there is room.
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/findings/finding_input.h"

namespace loaderscope {

// Further workers of each rank that fit into the free memory and into /dev/shm. Empty if the free
// memory or the memory of a worker was not measured.
std::optional<std::int64_t> workers_in_memory(const FindingInput& facts);

// Memory of the workers that the loader has with the settings `then`. Empty if these are no more
// workers than now, if it is little, or if it is unknown.
std::optional<WorkerMemory> memory_of_loader(const FindingInput& facts, const LoaderConfig& then);

// "another worker needs 900 MB, and 500 MB are free"
std::string no_room_words(const FindingInput& facts);

}  // namespace loaderscope
