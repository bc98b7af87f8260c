#include "machine/source_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <span>

#include "base/fd.h"
#include "base/hash.h"

namespace loaderscope {
namespace {

constexpr off_t kMaxSource = off_t{16} << 20;

}  // namespace

std::optional<SourceFile> read_source_file(const std::string& path) {
  // A pipe without a writer would block.
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat facts {};
  if (file < 0 || ::fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode)) return std::nullopt;
  if (facts.st_size > kMaxSource) return std::nullopt;
  SourceFile source;
  source.changed = facts.st_mtim.tv_sec * kSecond + facts.st_mtim.tv_nsec;
  source.content.resize(static_cast<std::size_t>(facts.st_size));
  const auto read = read_at(file, 0, std::as_writable_bytes(std::span(source.content)));
  if (read.bytes != source.content.size()) return std::nullopt;
  return source;
}

std::string source_digest(std::string_view content) {
  return fmt::format("{:016x}", hash_text(content));
}

}  // namespace loaderscope
