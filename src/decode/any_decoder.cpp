#include <string>
#include <vector>

#include "decode/first_bytes.h"
#include "loaderscope/decode.h"

namespace loaderscope {
namespace {

class AnyDecoder final : public Decoder {
 public:
  explicit AnyDecoder(const DecodeOptions& options)
      : options_(options), decoders_(decoder_table().size()) {}

  ImageHeader open(std::span<const std::byte> stored) override {
    current_ = &decoder_for(stored);
    return current_->open(stored);
  }

  Pixels decode(const Region& region) override { return current_->decode(region); }

 private:
  Decoder& decoder_for(std::span<const std::byte> stored) {
    const std::span<const DecoderRow> table = decoder_table();
    for (std::size_t i = 0; i < table.size(); ++i) {
      if (!table[i].recognises(stored)) continue;
      if (!decoders_[i]) decoders_[i] = make(table[i]);
      return *decoders_[i];
    }
    throw not_an_image(stored);
  }

  std::unique_ptr<Decoder> make(const DecoderRow& row) const {
    auto reason = row.row.reason_not_available();
    if (!reason) return row.make(options_);
    if (reason->ends_with('.')) reason->pop_back();  // the reason becomes part of a longer sentence
    throw SampleError(
        SampleError::Kind::unsupported,
        "it is of the format " + std::string(row.row.name) + ", and this program was " + *reason);
  }

  DecodeOptions options_;
  // same order as decoder_table(); made at the first use
  std::vector<std::unique_ptr<Decoder>> decoders_;
  Decoder* current_ = nullptr;
};

}  // namespace

std::unique_ptr<Decoder> make_any_decoder(const DecodeOptions& options) {
  return std::make_unique<AnyDecoder>(options);
}

}  // namespace loaderscope
