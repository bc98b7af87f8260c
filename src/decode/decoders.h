// The makers of the decoders, for the registry. Those of absent libraries are not linked.
#pragma once

#include <memory>

#include "loaderscope/decode.h"

namespace loaderscope {

std::unique_ptr<Decoder> make_jpeg_decoder(const DecodeOptions& options);
std::unique_ptr<Decoder> make_png_decoder(const DecodeOptions& options);
std::unique_ptr<Decoder> make_webp_decoder(const DecodeOptions& options);
std::unique_ptr<Decoder> make_video_decoder(const DecodeOptions& options);
std::unique_ptr<Decoder> make_raw_decoder(const DecodeOptions& options);

}  // namespace loaderscope
