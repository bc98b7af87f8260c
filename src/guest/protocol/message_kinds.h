// Messages from the processes of a measured job to the host, as JSON over their connection. The
// first message identifies the process. The others have the kinds below.
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

// Names, indexed by kind.
inline constexpr std::array kMessageNames = {
#define MESSAGE_KIND(name) std::string_view(#name),
#include "guest/protocol/message_kinds.def"
#undef MESSAGE_KIND
};

// The "role" of a process.
inline constexpr std::string_view kTrainerRole = "trainer", kWorkerRole = "worker";

inline constexpr std::size_t kMaxMessage = 200'000;  // bytes; a socket takes little more

}  // namespace loaderscope::guest
