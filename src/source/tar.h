// Shards: tar files of samples, read by an index, in any order.
//
// What belongs to a sample is said by the names, as WebDataset has it: members that follow each
// other and share the name up to the first dot are one sample ("n01/0003.jpg", "n01/0003.cls").
// One member of it is decoded: the first image, or the one that ?member= names.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/source.h"
#include "source/index.h"
#include "source/options.h"

namespace loaderscope::source {

struct TarMember {
  std::string name;
  Bytes begin = 0, size = 0;  // of its data
};

// Walks the regular files of a shard.
class TarWalk {
 public:
  explicit TarWalk(int fd) : fd_(fd) {}  // which stays open
  // Nothing at the end. Throws ValueError, as it continues "PATH: ", for what is no tar.
  std::optional<TarMember> next();

 private:
  struct Header;
  bool read_header(Header& header);
  std::string read_text(Bytes size);
  [[noreturn]] void fail(const std::string& why) const;

  int fd_;
  Bytes at_ = 0;
};

// The key of a sample and, in small letters, what kind of member this is; nothing for names that
// belong to no sample.
struct SampleName {
  std::string_view key;
  std::string extension;
};
std::optional<SampleName> sample_name(std::string_view member);

// `member`: the extension of what is decoded; "": the first image. Throws RunError.
Index index_shards(const std::vector<std::string>& shards, std::string_view member,
                   std::string_view identity, const SourceContext& context);

}  // namespace loaderscope::source

namespace loaderscope {

// Throws RunError.
std::unique_ptr<Source> open_tar(const SourceOptions& options, const SourceContext& context);

}  // namespace loaderscope
