#include "dataset/inspector.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/fd.h"
#include "base/shortage.h"
#include "dataset/encode.h"
#include "decode/limits.h"
#include "loaderscope/errors.h"

namespace loaderscope::dataset {
namespace {

constexpr std::size_t kFirstRead = 4096;
constexpr std::size_t kLongestHeader = std::size_t{32} << 20;  // pictures within pictures, profiles
constexpr std::size_t kTail = 512;
constexpr Bytes kLargestChecked = Bytes{2} << 30;

bool named_like_an_image(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  if (dot == std::string_view::npos) return false;
  std::string suffix(path.substr(dot + 1));
  for (char& c : suffix) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  constexpr std::array<std::string_view, 5> kSuffixes = {"jpg", "jpeg", "png", "webp", "lsraw"};
  return std::find(kSuffixes.begin(), kSuffixes.end(), suffix) != kSuffixes.end();
}

}  // namespace

struct Inspector::File {
  int fd = -1;
  Bytes size = 0;
  int error = 0;
  std::vector<std::byte>& buffer;

  File(const std::string& path, std::vector<std::byte>& memory) : buffer(memory) {
    do {
      fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    } while (fd < 0 && errno == EINTR);
    struct stat status {};
    if (fd < 0 || ::fstat(fd, &status) != 0) {
      fail(path, errno);
    } else {
      size = status.st_size;
    }
  }
  ~File() {
    if (fd >= 0) ::close(fd);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // What the machine has too little of is no fault of the file.
  void fail(const std::string& path, int of) {
    error = of;
    const std::string remedy = shortage_remedy(of);
    if (remedy.empty()) return;
    throw RunError(shown_text(path) + ": cannot be read: " + std::strerror(of) + "; " + remedy);
  }

  // Up to `count` bytes from `offset`; fewer at the end of the file, or after an error.
  std::span<const std::byte> read(Bytes offset, std::size_t count) {
    const Bytes left = std::max<Bytes>(size - offset, 0);
    count = static_cast<std::size_t>(std::min<Bytes>(left, static_cast<Bytes>(count)));
    if (buffer.size() < count) buffer.resize(count);
    const ReadAt got = read_at(fd, offset, {buffer.data(), count});
    if (got.error != 0) error = got.error;
    return {buffer.data(), got.bytes};
  }
};

ImageFacts Inspector::facts_of(File& file) {
  std::size_t count = kFirstRead;
  while (true) {
    const auto begin = file.read(0, count);
    ImageFacts facts = image_facts(begin);
    if (!facts.more_needed) return facts;
    if (begin.size() < count || count >= kLongestHeader) {
      facts.damage = "it ends within its header";
      return facts;
    }
    count *= 8;
  }
}

std::string Inspector::damage_in_pixels(File& file) {
  if (file.size > kLargestChecked) return "it is too large to be checked";
  try {
    const auto stored = file.read(0, static_cast<std::size_t>(file.size));
    const ImageHeader header = decoder_->open(stored);
    decoder_->decode({0, 0, header.width, header.height});
  } catch (const SampleError& error) {
    return error.what();
  }
  return "";
}

std::string Inspector::damage_of(File& file, const ImageFacts& facts) {
  if (!facts.damage.empty()) return std::string(facts.damage);
  if (facts.kind == Kind::raw) {
    // Sides of 32 bits: the product may not fit into 64.
    const double expected =
        3.0 * static_cast<double>(facts.width) * static_cast<double>(facts.height);
    const double found = static_cast<double>(file.size) - static_cast<double>(kRawHeader);
    if (found < expected) return "it ends early";
    return found > expected ? "it is longer than its header says" : "";
  }
  try {
    check_size({static_cast<int>(facts.width), static_cast<int>(facts.height)}, DecodeOptions{});
  } catch (const SampleError& error) {
    return error.what();
  }
  if (decoder_) return damage_in_pixels(file);
  if (facts.kind != Kind::jpeg) return "";
  // The end marker is nearly always the last thing; some cameras put more behind it.
  // Never before the scan: a thumbnail in the header has an end marker of its own.
  const Bytes tail = std::max(file.size - static_cast<Bytes>(kTail), facts.header_bytes);
  if (has_jpeg_end(file.read(tail, kTail))) return "";
  if (tail > facts.header_bytes && tail <= kLargestChecked) {
    const auto count = static_cast<std::size_t>(tail - facts.header_bytes + 1);
    if (has_jpeg_end(file.read(facts.header_bytes, count))) return "";
  }
  return "it has no end marker: it is cut off";
}

void Inspector::book_damaged(const std::string& path, std::string cause) {
  ++seen_.damaged;
  seen_.name_damaged({path, std::move(cause)});
}

void Inspector::book(const std::string& path, const ImageFacts& facts, Bytes size) {
  ++seen_.images;
  seen_.bytes += size;
  seen_.pixels += facts.width * facts.height;
  seen_.stored_bytes.add(size);
  seen_.widths.add(facts.width);
  seen_.heights.add(facts.height);
  ++seen_.formats[std::string(kKindNames[static_cast<std::size_t>(facts.kind)])];
  if (facts.kind == Kind::jpeg) {
    ++seen_.subsamplings[std::string(facts.subsampling)];
    seen_.progressive += facts.progressive ? 1 : 0;
  }
  if (const std::size_t slash = path.find('/'); slash != std::string::npos) {
    ++seen_.classes[path.substr(0, slash)];
  }
}

Bytes Inspector::inspect(const std::string& path) {
  File file(root_ + "/" + path, buffer_);
  ImageFacts facts;
  if (file.error == 0) facts = facts_of(file);
  if (file.error == 0 && facts.kind == Kind::unknown) {
    if (named_like_an_image(path)) {
      book_damaged(path, file.size == 0 ? "it is empty" : "it is no image of a known format");
    } else {
      ++seen_.other_files;
    }
    return file.size;
  }
  std::string damage = file.error == 0 ? damage_of(file, facts) : "";
  if (file.error != 0) damage = std::string("it cannot be read: ") + std::strerror(file.error);
  if (damage.empty()) {
    book(path, facts, file.size);
  } else {
    book_damaged(path, std::move(damage));
  }
  return file.size;
}

}  // namespace loaderscope::dataset
