// Texts of their own as samples: what a window has no more tokens for is filled up, so that batches
// are partly padding.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "loaderscope/errors.h"
#include "source/named_files.h"
#include "source/tokens.h"

namespace loaderscope::source {
namespace {

// Places of the tokens of each sample, which are consecutive within a file.
class Pieces {
 public:
  void begin_file() { first_of_file_.push_back(size()); }
  void add(Bytes begin, Bytes bytes) {
    begins_.push_back(begin);
    bytes_.push_back(static_cast<std::int32_t>(bytes));
    all_bytes_ += bytes;
  }
  std::int64_t size() const { return std::ssize(begins_); }
  Bytes all_bytes() const { return all_bytes_; }
  Extent extent(std::int64_t sample) const {
    const auto next = std::upper_bound(first_of_file_.begin(), first_of_file_.end(), sample);
    const auto i = static_cast<std::size_t>(sample);
    return {next - first_of_file_.begin() - 1, begins_[i], bytes_[i]};
  }

 private:
  std::vector<std::int64_t> first_of_file_;
  std::vector<Bytes> begins_;
  std::vector<std::int32_t> bytes_;  // a window has fewer than 2 GiB
  Bytes all_bytes_ = 0;
};

constexpr Bytes kMaxWidth = 8;  // number

struct Filling {
  std::int64_t window = 0, token = 0;
};

class PaddedTokens final : public ArraySource {
 public:
  PaddedTokens(const SourceOptions& options, const std::vector<ArrayFile>& files, Pieces pieces,
               Filling filling)
      : ArraySource(options, files, {}),
        pieces_(std::move(pieces)),
        filling_(filling),
        stored_(files.front().layout),
        delivery_(stored_.type, text_parameter(options.words, "deliver")) {
    delivery_.check_number("pad", filling_.token);
    add_note(
        fmt::format("{} of {} tokens on average, filled up to {}: {:.1f} % of what is delivered is "
                    "padding",
                    plural(size(), "sample"), format_count(tokens() / size()),
                    format_count(filling_.window), 100 * padding()));
  }

  std::int64_t size() const override { return pieces_.size(); }
  Extent extent(std::int64_t sample) const override { return pieces_.extent(sample); }
  Bytes sample_bytes() const override { return filling_.window * delivery_.number_bytes(); }
  std::string layout() const override {
    return fmt::format("({},) of {}, stored as {}", filling_.window, delivery_.type(),
                       stored_.type);
  }
  std::string describe(std::int64_t sample) const override {
    const Extent extent = pieces_.extent(sample);
    std::string path;
    get_path(extent.object, path);
    return fmt::format("{}[{}]", path, extent.offset / stored_.row_bytes);
  }
  std::unique_ptr<SampleReader> make_reader() const override {
    return make_delivering_reader(ExtentSource::make_reader(), delivery_, sample_bytes(),
                                  filling_.token);
  }
  std::vector<Metric> metrics() const override {
    std::vector<Metric> metrics = ArraySource::metrics();
    metrics.push_back(
        make_metric(metric::collate_padding_share, "of what is delivered", padding()));
    return metrics;
  }

 private:
  Bytes tokens() const { return pieces_.all_bytes() / stored_.row_bytes; }
  double padding() const {
    return 1 - static_cast<double>(tokens()) /
                   (static_cast<double>(size()) * static_cast<double>(filling_.window));
  }

  Pieces pieces_;
  Filling filling_;
  ArrayLayout stored_;
  Delivery delivery_;
};

}  // namespace

std::unique_ptr<Source> open_padded_tokens(const SourceOptions& options) {
  if (options.words.contains("stride"))
    throw UsageError("?stride: texts that are samples of their own do not overlap",
                     "leave it or pad=N out");
  const Filling filling{count_parameter(options.words, "length", kUsualWindow),
                        count_parameter(options.words, "pad", 0, 0)};
  if (filling.window > options.largest_sample / kMaxWidth)
    throw UsageError(fmt::format("?length={}: a sample may have {}", filling.window,
                                 format_size(static_cast<double>(options.largest_sample))),
                     "give a smaller length");
  Pieces pieces;
  const EachSequence cut = [&](Bytes begin, std::int64_t tokens, Bytes token_bytes) {
    for (; tokens > 0; tokens -= filling.window, begin += filling.window * token_bytes)
      pieces.add(begin, std::min(tokens, filling.window) * token_bytes);
  };
  std::vector<ArrayFile> files;
  for (const std::string& path : named_files(options.paths, kTokenSuffixes)) {
    pieces.begin_file();
    const TokenFile file = opened_tokens(path, options.words, cut);
    if (!file.has_index)
      throw RunError(shown_text(path) + ": has no .idx next to it that says where texts end",
                     "leave pad=N out");
    files.push_back(file.array);
  }
  if (pieces.size() == 0)
    throw RunError(shown_text(files.front().path) + ": its index has no sequence with a token");
  auto source = std::make_unique<PaddedTokens>(options, files, std::move(pieces), filling);
  source->settle_access();
  return source;
}

}  // namespace loaderscope::source
