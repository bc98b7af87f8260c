#include "dataset/inspector.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/failure_text.h"
#include "dataset/encode.h"
#include "dataset/jpeg_engines.h"
#include "decode/decoders.h"
#include "loaderscope/errors.h"
#include "source/walk.h"

namespace loaderscope::dataset {
namespace {

constexpr std::size_t kFirstRead = 4096;
constexpr std::size_t kMaxHeader = std::size_t{32} << 20;  // pictures within pictures, profiles
constexpr std::size_t kTail = 512;
constexpr Bytes kMaxChecked = Bytes{2} << 30;

std::string cannot_be_read(std::string_view why) {
  return fmt::format("it cannot be read: {}", why);
}

// Other programs have files named .raw, too, which are no damaged images.
bool is_surely_image(std::string_view path) {
  return is_image_name(path) && !path.ends_with(".raw") && !path.ends_with(".RAW");
}

}  // namespace

ImageFacts Inspector::read_facts(StoredImage& stored) {
  std::size_t count = kFirstRead;
  while (true) {
    const auto begin = stored.read(0, count);
    ImageFacts facts = image_facts(begin);
    if (!facts.more_needed) return facts;
    if (begin.size() < count || count >= kMaxHeader) {
      facts.damage = "it ends within its header";
      return facts;
    }
    count *= 8;
  }
}

std::string Inspector::damage_in_pixels(StoredImage& stored) {
  if (stored.size > kMaxChecked) return "it is too large to be checked";
  try {
    const auto bytes = stored.read(0, static_cast<std::size_t>(stored.size));
    const ImageHeader header = decoder_->open(bytes);
    decoder_->decode({0, 0, header.width, header.height});
  } catch (const SampleError& error) {
    return error.what();
  }
  return "";
}

std::string Inspector::find_damage(StoredImage& stored, const ImageFacts& facts) {
  if (!facts.damage.empty()) return std::string(facts.damage);
  if (facts.kind == Kind::raw) {
    // Sides of 32 bits: the product may not fit into 64.
    const double expected =
        3.0 * static_cast<double>(facts.width) * static_cast<double>(facts.height);
    const double found = static_cast<double>(stored.size) - static_cast<double>(kRawHeader);
    if (found < expected) return "it ends early";
    return found > expected ? "it is longer than its header says" : "";
  }
  try {
    check_size({static_cast<int>(facts.width), static_cast<int>(facts.height)}, DecodeOptions{});
  } catch (const SampleError& error) {
    return error.what();
  }
  if (decoder_) return damage_in_pixels(stored);
  if (facts.kind != Kind::jpeg) return "";
  // Looks for the end marker near the end: some cameras append more data after it. Never looks
  // before the scan: a thumbnail in the header has an end marker of its own.
  const Bytes tail = std::max(stored.size - static_cast<Bytes>(kTail), facts.header_bytes);
  if (has_jpeg_end(stored.read(tail, kTail))) return "";
  if (tail > facts.header_bytes && tail <= kMaxChecked) {
    const auto count = static_cast<std::size_t>(tail - facts.header_bytes + 1);
    if (has_jpeg_end(stored.read(facts.header_bytes, count))) return "";
  }
  return "it has no end marker: it is cut off";
}

void Inspector::book_damaged(const std::string& name, std::string cause) {
  ++seen_.damaged;
  seen_.name_damaged({name, std::move(cause)});
}

void Inspector::book(const ImageFacts& facts, Bytes size) {
  ++seen_.images;
  seen_.bytes += size;
  seen_.pixels += facts.width * facts.height;
  seen_.stored_bytes.add(size);
  seen_.widths.add(facts.width);
  seen_.heights.add(facts.height);
  seen_.aspects.add(1000 * facts.width / facts.height);
  ++seen_.formats[std::string(image_format(facts.kind).name)];
  if (const std::string_view refusal = engine_refusal(facts); !refusal.empty())
    ++seen_.engine_refusals[std::string(refusal)];
  if (facts.kind == Kind::jpeg) {
    ++seen_.subsamplings[std::string(facts.subsampling)];
    seen_.progressive += facts.progressive ? 1 : 0;
    if (facts.quality > 0) seen_.qualities.add(facts.quality);
  }
}

// Returns the folder in the root that contains a file; "" for files in the root.
std::string Inspector::folder_group(const std::string& path) {
  const std::size_t slash = path.find('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

void Inspector::report(const std::string& name, const ImageFacts& facts, Bytes size,
                       bool is_damaged) const {
  if (on_image_)
    on_image_({name, root_.empty() ? "" : folder_group(name), facts, size, is_damaged});
}

// `is_file`: it may be no image at all.
void Inspector::look(const std::string& name, StoredImage& stored, bool is_file) {
  const ImageFacts facts = read_facts(stored);
  if (stored.error == 0 && facts.kind == Kind::unknown) {
    if (is_file && !is_surely_image(name)) {
      ++seen_.other_files;
      return;
    }
    book_damaged(name, stored.size == 0 ? "it is empty" : "it is no image of a known format");
    report(name, facts, stored.size, true);
    return;
  }
  std::string damage = stored.error == 0 ? find_damage(stored, facts) : "";
  if (stored.error != 0) damage = cannot_be_read(std::strerror(stored.error));
  report(name, facts, stored.size, !damage.empty());
  if (!damage.empty()) {
    book_damaged(name, std::move(damage));
    return;
  }
  book(facts, stored.size);
  if (is_file && !folder_group(name).empty()) ++seen_.classes[folder_group(name)];
}

Bytes Inspector::inspect_at_server(const std::string& path, const std::string& whole) {
  std::string why;
  try {
    const std::unique_ptr<source::StoredObject> object = source::find_store(whole).open(whole);
    StoredImage stored{-1, 0, object->size(), 0, {}, buffer_, object.get()};
    look(path, stored, true);
    return stored.size;
  } catch (const ValueError& error) {
    why = error.what();
  } catch (const SampleError& error) {
    why = error.what();
  }
  book_damaged(path, cannot_be_read(why));
  return 0;
}

Bytes Inspector::inspect(const std::string& path) {
  const std::string whole = source::join_path(root_, path);
  if (source::is_remote(whole)) return inspect_at_server(path, whole);
  const Fd file(opened_file(whole));
  struct stat status {};
  if (file < 0 || ::fstat(file, &status) != 0) {
    book_damaged(path, cannot_be_read(std::strerror(reportable_error(whole, errno))));
    return 0;
  }
  StoredImage stored{file, 0, status.st_size, 0, {}, buffer_};
  look(path, stored, true);
  return stored.size;
}

void Inspector::inspect(const std::string& name, std::span<const std::byte> stored) {
  StoredImage stored_image{-1, 0, std::ssize(stored), 0, stored, buffer_};
  look(name, stored_image, false);
}

std::span<const std::byte> StoredImage::read(Bytes offset, std::size_t count) {
  const Bytes left = std::max<Bytes>(size - offset, 0);
  count = static_cast<std::size_t>(std::min<Bytes>(left, static_cast<Bytes>(count)));
  if (fd < 0 && server_object == nullptr)
    return count == 0 ? bytes.first(0) : bytes.subspan(static_cast<std::size_t>(offset), count);
  if (buffer.size() < count) buffer.resize(count);
  if (server_object != nullptr)
    return {buffer.data(), server_object->read(begin + offset, {buffer.data(), count})};
  const ReadAt got = read_at(fd, begin + offset, {buffer.data(), count});
  if (got.error != 0) error = got.error;
  return {buffer.data(), got.bytes};
}

int opened_file(const std::string& path) {
  int fd = -1;
  do {
    fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

int reportable_error(const std::string& path, int error) {
  const std::string remedy = exhaustion_hint(error);
  if (remedy.empty()) return error;
  throw RunError(shown_text(path) + ": cannot be read (" + std::string(std::strerror(error)) + ")",
                 remedy);
}

}  // namespace loaderscope::dataset
