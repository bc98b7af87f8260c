// The makers of samples from stored data.
#pragma once

#include <memory>

#include "engine/native/replay_pool.h"
#include "engine/native/sample_errors.h"
#include "engine/native/sample_maker.h"
#include "loaderscope/augment.h"
#include "loaderscope/decode.h"
#include "loaderscope/source.h"

namespace loaderscope::native {

// Inputs that all workers of a job share to make samples.
struct DataPipeline {
  const LoaderPlan* plan = nullptr;
  const Source* source = nullptr;
  SampleForm form = SampleForm::image;
  DecodeOptions decode;
  AugmentOptions augment;
  bool fail_on_error = false;
  SampleErrors* errors = nullptr;
  const ReplayPool* replayed = nullptr;  // set only with knock-outs
};

// `pipeline` must outlive the makers.
MakerFactory data_makers(const DataPipeline& pipeline);

}  // namespace loaderscope::native
