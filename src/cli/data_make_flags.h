// Flags of `data make`.
#pragma once

#include <string>

#include "cli/data_flags.h"
#include "dataset/make.h"
#include "dataset/make_tokens.h"
#include "dataset/synthetic_copy.h"

namespace loaderscope {

// Texts as given; the data set's own parsers read them.
struct MakeFlags {
  std::string path, like, size, bytes_per_pixel, subsampling, format;
  std::string count, quality, progressive_share, classes, seed, threads;
  std::string shard_size, compress, tokens, vocabulary, documents;

  dataset::Target target() const {
    dataset::Target target;
    read_flag(path, "PATH", target, dataset::parse_target);
    return target;
  }
};

// Throw UsageError, also for flags that are of something else.
dataset::MakeOptions make_options(const MakeFlags& flags, const dataset::Target& target);
dataset::TwinOptions twin_options(const MakeFlags& flags);
dataset::TokenOptions token_options(const MakeFlags& flags, const dataset::Target& target);
dataset::MadeShards shards_of(const MakeFlags& flags, const dataset::WriterRow& writer);
void refuse_shards(const MakeFlags& flags);

}  // namespace loaderscope
