#include "rendezvous/job_token.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/private_folder.h"
#include "base/secret.h"
#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

constexpr std::size_t kShortest = 16, kRandomBytes = 32;

RunError bad_file(const std::string& path, const std::string& why) {
  return RunError(fmt::format(
      "rendezvous: {}, which holds the token of this user's jobs, {}; remove it, or set {} to one "
      "random text for all processes",
      shown_text(path), why, kTokenVariable));
}

std::string text_in(int file, const std::string& path) {
  struct stat facts {};
  if (::fstat(file, &facts) != 0) throw bad_file(path, std::strerror(errno));
  if (!S_ISREG(facts.st_mode) || facts.st_uid != ::geteuid() || (facts.st_mode & 077) != 0)
    throw bad_file(path, "is no file of this user alone");
  std::string text(2 * kRandomBytes, '\0');
  const ssize_t got = ::pread(file, text.data(), text.size(), 0);
  if (got != std::ssize(text)) throw bad_file(path, "is cut off");
  return text;
}

// Whole or not at all, on NFS too: of several processes that come at once, one makes it.
void make_file(const std::string& folder, const std::string& path) {
  if (const int error = make_private_folders(folder))
    throw bad_file(path, std::string("cannot be made: ") + std::strerror(error));
  std::string hidden = folder + "/.job-token.XXXXXX";
  const Fd file(::mkostemp(hidden.data(), O_CLOEXEC));
  if (file < 0) throw bad_file(path, std::string("cannot be made: ") + std::strerror(errno));
  const std::string token = hex_of(random_bytes(kRandomBytes));
  const bool is_whole =
      ::write(file, token.data(), token.size()) == std::ssize(token) && ::fsync(file) == 0;
  const bool is_there = is_whole && (::link(hidden.c_str(), path.c_str()) == 0 || errno == EEXIST);
  const int error = errno;
  ::unlink(hidden.c_str());
  if (!is_there) throw bad_file(path, std::string("cannot be made: ") + std::strerror(error));
}

}  // namespace

Secret job_token(const Variable& variable, const std::string& folder) {
  if (const char* given = variable(kTokenVariable); given != nullptr) {
    Secret token{std::string(given)};
    if (token.exposed().size() >= kShortest) return token;
    throw UsageError(fmt::format("{}: is too short to be a secret; give at least {} random letters",
                                 kTokenVariable, kShortest));
  }
  if (folder.empty())
    throw UsageError(fmt::format(
        "--rendezvous: there is no home folder for the token of the job; set {} to one random text "
        "for all processes",
        kTokenVariable));
  const std::string path = folder + "/job-token";
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  Fd file(::open(path.c_str(), kFlags));
  if (file < 0 && errno == ENOENT) {
    make_file(folder, path);
    file = Fd(::open(path.c_str(), kFlags));
  }
  if (file < 0) throw bad_file(path, std::strerror(errno));
  return Secret(text_in(file, path));
}

}  // namespace loaderscope
