// Tar files of samples, as WebDataset reads them: "000000031.jpg", and its class as
// "000000031.cls".
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <numeric>

#include "dataset/files.h"
#include "dataset/writer.h"
#include "loaderscope/errors.h"

namespace loaderscope::dataset {
namespace {

constexpr std::size_t kBlock = 512;
constexpr std::size_t kMaxName = 100;
constexpr Bytes kMaxMember = (Bytes{1} << 33) - 1;  // eleven octal digits

using Header = std::array<char, kBlock>;

void put(Header& header, std::size_t at, std::string_view text) {
  std::memcpy(header.data() + at, text.data(), text.size());
}

// POSIX's ustar.
Header make_header(std::string_view name, std::size_t size) {
  Header header{};
  put(header, 0, name);
  put(header, 100, "0000444");
  put(header, 108, "0000000");
  put(header, 116, "0000000");
  put(header, 124, fmt::format("{:011o}", size));
  put(header, 136, "00000000000");
  put(header, 148, "        ");  // the checksum counts as blanks
  put(header, 156, "0");
  put(header, 257, "ustar");
  put(header, 263, "00");
  const unsigned sum = std::accumulate(header.begin(), header.end(), 0u, [](unsigned all, char c) {
    return all + static_cast<unsigned char>(c);
  });
  put(header, 148, fmt::format("{:06o}", sum));
  header[154] = '\0';
  return header;
}

constexpr std::array<std::byte, kBlock> kNothing{};

// Members have no time and no owner, so that the same samples give the same bytes.
class TarWriter final : public ShardWriter {
 public:
  TarWriter(const Container& container, std::int64_t shard)
      : file_(tar_path(container, shard), container.compression),
        has_labels_(container.plan.classes > 0) {}

  void add(const PackedSample& sample) override {
    const std::string key = sample_key(sample.number);
    add(key + std::string(sample.suffix), sample.bytes);
    if (!has_labels_) return;
    const std::string label = std::to_string(sample.label);
    add(key + ".cls", std::as_bytes(std::span(label)));
  }
  void finish() override {
    file_.append(kNothing);
    file_.append(kNothing);
    file_.finish();
  }
  Bytes bytes() const override { return file_.bytes(); }

 private:
  void add(std::string_view name, std::span<const std::byte> bytes) {
    if (name.size() > kMaxName || std::ssize(bytes) > kMaxMember)
      throw RunError(shown_text(name) + ": does not fit into a tar header", "leave the sample out");
    const Header header = make_header(name, bytes.size());
    file_.append(std::as_bytes(std::span(header)));
    file_.append(bytes);
    file_.append(std::span(kNothing).first((kBlock - bytes.size() % kBlock) % kBlock));
  }

  OutputFile file_;
  bool has_labels_;
};

}  // namespace

std::string tar_path(const Container& container, std::int64_t shard) {
  const std::string path = shard_path(container, shard, ".tar");
  return container.compression == nullptr
             ? path
             : fmt::format("{}.{}", path, container.compression->ending);
}

std::unique_ptr<ShardWriter> open_tar_writer(const Container& container, std::int64_t shard) {
  return std::make_unique<TarWriter>(container, shard);
}

}  // namespace loaderscope::dataset
