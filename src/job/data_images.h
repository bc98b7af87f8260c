// The images of a run's data: what a prediction of decoding on a GPU needs to know.
#pragma once

#include "loaderscope/run_record.h"

namespace loaderscope {

// Adds the mean size of the images and the share of those that JPEG engines decode. Reads the
// headers of a few images, drawn at random, of data on this machine. Adds nothing for other data,
// and if the data cannot be read.
void add_image_facts(RunRecord& record);

}  // namespace loaderscope
