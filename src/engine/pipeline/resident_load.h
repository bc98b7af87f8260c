// Loading of a data set that the device keeps, before the first batch.
#pragma once

#include "engine/pipeline/loader_plan.h"
#include "loaderscope/run_record.h"

namespace loaderscope {

struct ResidentLoad {
  Bytes bytes = 0;  // memory of the device of each rank; 0: it keeps nothing
  Nanos time = 0;   // end of the loading on all devices
};

// Returns what loading takes. The workers of a host read each sample once, and decode it if the
// device keeps images. Each resource that they share is a lower limit. The bytes of one rank after
// the other then go over the link.
ResidentLoad resident_load(const LoaderPlan& plan);

// Each sample needs this stage once before the run, if the device keeps that form of it.
bool is_loading_stage(Stage stage, ResidentForm form);

// Time of these bytes on the link to one device.
Nanos resident_copy_time(const LoaderPlan& plan, Bytes bytes);

// Adds the time to that of the first batch, as part of `read`. Adds nothing without bytes.
void add_resident_load(const ResidentLoad& load, RunRecord& record);

}  // namespace loaderscope
