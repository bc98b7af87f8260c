#include "base/ffmpeg.h"
#include "built_with.h"
#include "decode/decoders.h"
#include "unit/decode/check_decoder.h"
#include "unit/decode/good_images.h"
#include "unit/decode/made_video.h"

namespace loaderscope {
namespace {

// The packet is the image of another test.
const bool kVideoIsAdded =
    built_with::kJpeg.is_built && made::add_good_image("video", [] {
      return made::video_frame(AV_CODEC_ID_MJPEG, 61, 43, made::good_images().at("jpeg")());
    });

}  // namespace
}  // namespace loaderscope
