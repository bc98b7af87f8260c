// How the processes of a measured job speak to the host: messages of JSON over the line between
// them. The first one says who it is, the others are of the kinds here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace loaderscope::guest {

enum class MessageKind : std::uint8_t {
#define MESSAGE_KIND(name) name,
#include "guest/protocol/message_kinds.def"
#undef MESSAGE_KIND
};

// By the numbers of the kinds.
inline constexpr std::array kMessageNames = {
#define MESSAGE_KIND(name) std::string_view(#name),
#include "guest/protocol/message_kinds.def"
#undef MESSAGE_KIND
};

// The "role" of a process.
inline constexpr std::string_view kTrainerRole = "trainer", kWorkerRole = "worker";

inline constexpr std::size_t kMaxMessage = 200'000;  // bytes; a socket takes little more

}  // namespace loaderscope::guest
