#include "probe/probed_data.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>

#include "base/replace_all.h"
#include "loaderscope/errors.h"
#include "machine/proc_file.h"
#include "record/family_traits.h"
#include "source/registry.h"
#include "source/store.h"

namespace loaderscope::probe {
namespace {

constexpr Bytes kMaxPiece = Bytes{16} << 20;   // limit for a sample; larger samples are read in
                                               // part
constexpr Bytes kOwnPiece = Bytes{128} << 10;  // piece of our own file
constexpr Bytes kAround = Bytes{8} << 10;      // read around a piece, in whole pages
constexpr Bytes kMaxFile = Bytes{512} << 20;

std::string error_text(int error) { return std::generic_category().message(error); }

// Half of what may be read, and a tenth of what is free at most.
Bytes bytes_to_write(const std::string& folder, Bytes read_at_most) {
  struct statvfs state {};
  if (::statvfs(folder.c_str(), &state) != 0)
    throw RunError(fmt::format("--path {}: {}", shown_text(folder), error_text(errno)),
                   "name a folder that is there");
  const double free = static_cast<double>(state.f_bavail) * static_cast<double>(state.f_frsize);
  const auto tenth = static_cast<Bytes>(std::min(free / 10, static_cast<double>(kMaxFile)));
  const Bytes bytes = std::min({read_at_most / 2, tenth, kMaxFile}) / kOwnPiece * kOwnPiece;
  constexpr Bytes kMin = 64 * kOwnPiece;
  if (bytes < kMin)
    throw RunError(fmt::format("--path {}: {} are free there, of which a tenth would be written",
                               shown_text(folder), format_size(free)),
                   "make room, or name --data");
  return bytes;
}

// One that has no name, or loses it at once: it is gone whatever happens to us.
Fd unnamed_file(const std::string& folder) {
  Fd file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file >= 0 || errno == ENOENT || errno == EACCES || errno == EROFS || errno == ENOTDIR)
    return file;
  std::string name = folder + "/loaderscope-probe-XXXXXX";
  Fd named(::mkostemp(name.data(), O_CLOEXEC));
  if (named >= 0) ::unlink(name.c_str());
  return named;
}

// Not of zeros, which some storage does not store.
std::vector<char> noise(std::size_t bytes) {
  std::vector<char> block(bytes);
  std::mt19937_64 random(1);
  std::generate(block.begin(), block.end(), [&] { return static_cast<char>(random()); });
  return block;
}

namespace fs = std::filesystem;

// One line of mountinfo: "ID PARENT MAJOR:MINOR ROOT POINT OPTIONS ... - TYPE SOURCE OPTIONS".
struct Mount {
  std::string device, point, type, source;
};

Mount parse_mount(const std::string& line) {
  Mount mount;
  std::istringstream words(line);
  std::string word;
  words >> word >> word >> mount.device >> word >> mount.point;
  while (words >> word && word != "-") {
  }
  words >> mount.type >> mount.source;
  mount.point = replace_all(mount.point, "\\040", " ");  // blanks of names are escaped
  return mount;
}

bool lies_below(std::string_view path, std::string_view folder) {
  if (folder == "/") return true;
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

// A host's disks look as if they turned, whatever they are.
bool is_of_host(const fs::path& device) {
  std::error_code error;
  const std::string place = fs::canonical(device, error).string();
  for (const char* bus : {"/virtio", "/vbd-", "/vmbus"})
    if (place.find(bus) != place.npos) return true;
  return false;
}

std::string storage_kind(const fs::path& root, const Mount& mount) {
  if (mount.source.find("nvme") != mount.source.npos) return "NVMe";
  // A partition's queue is that of its disk.
  const fs::path device = root / "sys/dev/block" / mount.device;
  if (is_of_host(device)) return "virtual disk";
  for (const fs::path& queue : {device / "queue", device / "../queue"}) {
    const std::string turns = read_text((queue / "rotational").string());
    if (turns.starts_with('1')) return "rotational disk";
    if (turns.starts_with('0')) return "disk";
  }
  return "";
}

}  // namespace

ProbedData::ProbedData(const std::string& data, const std::string& folder, Bytes read_at_most,
                       const std::atomic<int>& stop)
    : read_at_most_(read_at_most) {
  if (!data.empty()) {
    open(data, stop);
  } else if (!folder.empty()) {
    try_to_write_file(folder, stop);
  } else {
    why_none_ = "no --data DATA and no --path FOLDER is given";
  }
}

void ProbedData::open(const std::string& data, const std::atomic<int>& stop) {
  DataText said{nullptr, "", {}};
  try {
    said = parse_data(data, "");
  } catch (const ValueError& error) {
    throw add_place<UsageError>("--data " + shown_text(data) + ": ", error);
  }
  const SourceRow& row = said.row ? *said.row : source_row("files");
  if (const auto reason = row.row.reason_not_available())
    throw UsageError("--data " + shown_text(data) + ": " + *reason,
                     "give other data, or build with its library");
  place_ = said.path;
  if (row.open == nullptr) {
    why_none_ = fmt::format("source {} stores nothing", row.row.name);
    return;
  }
  SourceContext context;
  context.stop_signal = &stop;
  source_ = open_source(row.row.name, {data}, SourceOptions(), context);
  has_images_ = source_traits(row.row.name).form == SampleForm::image;
  if (const Objects* objects = source_->stored_objects();
      objects != nullptr && objects->objects() > 0)
    objects->get_path(0, file_);
  if (source_->size() <= 0)
    why_none_ = "the data are a stream, of which nothing is read at random; run measures it";
}

// A disk that is full or may not be written leaves the rest to be measured.
void ProbedData::try_to_write_file(const std::string& folder, const std::atomic<int>& stop) {
  struct stat facts {};
  if (::stat(folder.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode))
    throw RunError(fmt::format("--path {}: is no folder", shown_text(folder)),
                   "name one that is there");
  try {
    write_file(folder, stop);
  } catch (const RunError& error) {
    written_ = Fd();
    file_.clear();
    why_none_ = error.what();
  }
}

void ProbedData::write_file(const std::string& folder, const std::atomic<int>& stop) {
  place_ = file_ = folder;
  written_bytes_ = bytes_to_write(folder, read_at_most_);
  written_ = unnamed_file(folder);
  const auto refuse = [&](int error) {
    throw RunError(fmt::format("--path {}: a temporary file cannot be written there ({})",
                               shown_text(folder), error_text(error)),
                   "name another folder, or --data");
  };
  if (written_ < 0) refuse(errno);
  const std::vector<char> block = noise(1 << 20);
  for (Bytes done = 0; done < written_bytes_ && stop.load() == 0;) {
    const auto count = std::min<Bytes>(written_bytes_ - done, std::ssize(block));
    const ssize_t put = ::write(written_, block.data(), static_cast<std::size_t>(count));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) refuse(put < 0 ? errno : ENOSPC);
    done += put;
  }
  if (::fdatasync(written_) != 0) refuse(errno);
  // All of it: of pages that the kernel keeps together it forgets no parts.
  ::posix_fadvise(written_, 0, 0, POSIX_FADV_DONTNEED);
}

FileRange ProbedData::sample_piece(std::int64_t sample) const {
  FileRange piece;
  const Extent extent = source_->extents()->extent(sample);
  source_->extents()->get_path(extent.object, piece.path);
  piece.offset = extent.offset;
  piece.length = extent.length;
  if (piece.length == Extent::kToEnd) {
    struct stat facts {};
    piece.length = ::stat(piece.path.c_str(), &facts) == 0 ? facts.st_size - piece.offset : 0;
  }
  piece.length = std::clamp<Bytes>(piece.length, 0, kMaxPiece);
  return piece;
}

std::vector<FileRange> ProbedData::pieces(std::size_t most, Bytes bytes, std::uint64_t seed) const {
  std::vector<FileRange> drawn;
  const bool is_local = source_ && source_->extents() != nullptr && why_none_.empty() &&
                        source_->access() != FileAccess::http;
  const std::int64_t samples = is_written() ? written_bytes_ / kOwnPiece
                               : is_local   ? source_->size()
                                            : 0;
  std::mt19937_64 random(seed);
  std::set<std::int64_t> taken;
  Bytes sum = 0;
  const std::size_t tries = samples > 0 ? 4 * most : 0;
  for (std::size_t i = 0; i < tries && drawn.size() < most; ++i) {
    const auto sample = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(samples));
    if (!taken.insert(sample).second) continue;
    FileRange piece = is_written()
                          ? FileRange{fmt::format("/proc/self/fd/{}", static_cast<int>(written_)),
                                      sample * kOwnPiece, kOwnPiece}
                          : sample_piece(sample);
    if (piece.length <= 0) continue;
    sum += piece.length + kAround;
    if (sum > bytes) break;
    drawn.push_back(std::move(piece));
  }
  return drawn;
}

double ProbedData::sample_bytes() const {
  constexpr std::size_t kSome = 200;
  const std::vector<FileRange> some = pieces(kSome, Bytes{1} << 50, 1);
  double sum = 0;
  for (const FileRange& piece : some) sum += static_cast<double>(piece.length);
  if (!some.empty()) return sum / static_cast<double>(some.size());
  return source_ ? static_cast<double>(source_->sample_bytes()) : 0;
}

StorageDevice find_storage_device(const fs::path& root, const std::string& file) {
  StorageDevice device;
  const source::FileSystemKind kind = source::find_file_system(file);
  std::error_code error;
  const std::string path = fs::canonical(file, error).string();
  Mount best;
  std::ifstream mounts(root / "proc/self/mountinfo");
  for (std::string line; !error && std::getline(mounts, line);) {
    Mount mount = parse_mount(line);
    // A later mount at the same place hides the earlier one.
    if (lies_below(path, mount.point) && mount.point.size() >= best.point.size())
      best = std::move(mount);
  }
  device.type = best.type.empty() ? std::string(kind.name) : best.type;
  device.source = best.source;
  device.kind = kind.network ? "network" : kind.memory_only ? "memory" : storage_kind(root, best);
  return device;
}

}  // namespace loaderscope::probe
